# stand-in: end every process that holds GPU memory, as the real script does.
echo "stand-in delete_gpu_process.sh"
for pid in $(nvidia-smi --query-compute-apps=pid --format=csv,noheader); do
    kill -9 "$pid" 2> /dev/null
done
exit 0
