#!/bin/sh
# How long the parts of `make test` take.
#
#     sh tests/timed.sh FILE NAME COMMAND …    # run the command and write its time into FILE
#     sh tests/timed.sh FILE                   # print what FILE has
file=$1
shift
if [ $# -eq 0 ]; then
	cat "$file"
	exit
fi
name=$1
shift
start=$(date +%s)
"$@"
status=$?
took=$(($(date +%s) - start))
mkdir -p "$(dirname "$file")"
printf '%2d min %02d s  %s\n' $((took / 60)) $((took % 60)) "$name" >>"$file"
exit $status
