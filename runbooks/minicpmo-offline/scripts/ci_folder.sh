# Before $CI_OUT is made: one in which no stage has begun, of an earlier try, is moved aside. Others stay and are red.
set -e
if [ -d "$CI_OUT" ] && ! compgen -G "$CI_OUT/*.log" > /dev/null; then
    aside="$CI_OUT-incomplete"
    n=2
    while [ -e "$aside" ]; do
        aside="$CI_OUT-incomplete-$n"
        n=$((n + 1))
    done
    mv "$CI_OUT" "$aside"
    echo "moved aside: $aside"
fi
