#!/usr/bin/env bash
# Fetch what the class has pushed.
#
#     bash deploy/collect.sh deploy/repositories.csv submissions
#
# repositories.csv has a line for each student: their id in the roster, a comma, the address of their
# repository. Each becomes a folder of `submissions`, and times.csv says when its last commit was
# made. TOKEN, if it is set, is what may read the repositories; no file and no command line gets it.
set -euo pipefail
list=$1 into=$2
export GIT_TERMINAL_PROMPT=0 GIT_LFS_SKIP_SMUDGE=1
if [ -n "${TOKEN:-}" ]; then
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader
  GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:%s' "$TOKEN" | base64 | tr -d '\n')"
  export GIT_CONFIG_VALUE_0
fi
rm -rf "$into"
mkdir -p "$into"
echo "student,time" > times.csv
fetched=0
while IFS=, read -r student address || [ -n "$student" ]; do
  address=${address%$'\r'}
  case $student in student | '#'* | '') continue ;; esac
  if ! [[ $student =~ ^[A-Za-z0-9_@+][A-Za-z0-9._@+-]*$ ]]; then
    echo "$student: not fetched, because an id with these characters names no folder" >&2
  elif git clone --quiet --depth 1 --no-tags --config core.symlinks=false -- "$address" "$into/$student"; then
    echo "$student,$(git -C "$into/$student" log -1 --format=%cI)" >> times.csv
    rm -rf "$into/$student/.git"
    fetched=$((fetched + 1))
  else
    rm -rf "${into:?}/$student"
    echo "$student: cannot be fetched; they are graded as if they had handed in nothing" >&2
  fi
done < "$list"
echo "$fetched fetched into $into; times.csv has the times of their last commits"
[ "$fetched" -gt 0 ]
