# After a CI stage: clear the GPUs, then tell its accuracy and its exit code. Argument: the stage's name.
python "$RUNBOOK/scripts/clear_gpus.py"
cleared=$?
grep -E "(Overall accuracy|Accuracy):" "$CI_OUT/$1.log"
echo "exit code $(cat "$CI_OUT/$1.rc")"
exit "$cleared"
