#!/bin/sh
# Two folders for each account that is named, which keep hand-ins and feedback apart. Run it as root:
#
#     sh enrol.sh ada bob
#
#     /srv/course/hand-in/ada     ada writes, the teacher reads; ~/hand-in leads there
#     /srv/course/feedback/ada    the teacher writes, ada reads; ~/feedback leads there
#
# The accounts are there already, each with a group of its own name (`useradd ada` makes both).
set -eu
course=${COURSE:-/srv/course} homes=${HOMES:-/home} teacher=${TEACHER:-teacher}

chmod 0700 "$homes/$teacher" # there are our answers and everybody's grades
install -d -o "$teacher" -g "$teacher" -m 0755 "$course"
install -d -g "$teacher" -m 0751 "$course/hand-in" "$course/feedback" # students list neither
for name; do
  chmod 0700 "$homes/$name"
  install -d -o "$name" -g "$teacher" -m 2750 "$course/hand-in/$name"
  install -d -o "$teacher" -g "$name" -m 2750 "$course/feedback/$name"
  for folder in hand-in feedback; do # as the student: root follows no link in a student's home
    setpriv --reuid "$name" --regid "$name" --clear-groups \
      ln -sfn "$course/$folder/$name" "$homes/$name/$folder"
  done
done
