#!/usr/bin/env bash
# Take a notebook from the home of each student: root runs this on the hub's machine when it is due.
#
#     bash collect.sh roster.csv release/u02_rewrites/u02_rewrites.ipynb submissions
#
# The first column of the roster is the name of the user. Each file is read as that user, so a link in
# a home leads to nothing that this student could not read, such as a neighbour's answers.
set -euo pipefail
roster=$1 notebook=$2 into=$3
as() { if [ "$(id -u)" -eq 0 ]; then runuser -u "$@"; else shift && shift && "$@"; fi; }
home() { if [ -n "${HOMES:-}" ]; then echo "$HOMES/$1"; else getent passwd "$1" | cut -d: -f6; fi; }
mkdir -p "$into"
tail -n +2 "$roster" | while IFS=, read -r user _ || [ -n "$user" ]; do
  [[ $user =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ ]] || continue
  file="$(home "$user")/$notebook"
  if as "$user" -- cat "$file" > "$into/$user.ipynb" 2> /dev/null; then
    touch --date="@$(as "$user" -- stat --dereference --format=%Y "$file")" "$into/$user.ipynb"
  else
    rm -f "$into/$user.ipynb"
    echo "$user: there is no $notebook that they could read"
  fi
done
