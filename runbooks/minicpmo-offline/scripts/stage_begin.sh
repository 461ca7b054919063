# Before a CI stage: it must be of $COMMIT_SHA, and what an earlier attempt left is kept. Argument: the stage's name.
set -e
head="$(git rev-parse HEAD)"
if [ "$head" != "$COMMIT_SHA" ]; then
    echo "wrong: the checkout is at $head, and this stage is of $COMMIT_SHA"
    exit 1
fi
n=1
while [ -e "$CI_OUT/$1.rc.$n" ] || [ -e "$CI_OUT/$1.log.$n" ]; do
    n=$((n + 1))
done
for kind in log rc; do
    if [ -e "$CI_OUT/$1.$kind" ]; then
        mv "$CI_OUT/$1.$kind" "$CI_OUT/$1.$kind.$n"
    fi
done
