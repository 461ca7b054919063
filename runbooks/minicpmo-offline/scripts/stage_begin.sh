# Before a CI stage that was tried already: keep what the earlier attempt left. Argument: the stage's name.
n=1
while [ -e "$CI_OUT/$1.rc.$n" ] || [ -e "$CI_OUT/$1.log.$n" ]; do
    n=$((n + 1))
done
for kind in log rc; do
    if [ -e "$CI_OUT/$1.$kind" ]; then
        mv "$CI_OUT/$1.$kind" "$CI_OUT/$1.$kind.$n"
    fi
done
