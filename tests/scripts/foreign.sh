#!/usr/bin/env bash
# usage: tests/scripts/foreign.sh
#
# Fails if tools/foreign reads other problems from small checkouts than their files state, or draws others from a seed.
set -euo pipefail
tool=$(cd "$(dirname "$0")/../.." && pwd)/tools/foreign
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cd "$temp"
mkdir -p deep/code/kernels one/tests/benchdnn/inputs/{matmul,ip} roc/clients/gtest roc/scripts/counts
cat > deep/code/kernels/gemm_problems.h <<'END'
    std::make_tuple(1760, 16, 1761, false, false),
    std::make_tuple(5124, 700, 2048, true, false),
    std::make_tuple(4096, 7133, 512, false, true),
    std::make_tuple(8, 8, 8, false, false),
END
cat > one/tests/benchdnn/inputs/matmul/harness_a <<'END'
--reset --dt=f16 --stag=abcd --wtag=abdc --dtag=abcd 56x16x384x64:56x16x64x383n"scores"
# 1x1:1x1
--reset --dt=bf16:bf16:f32 --stag=ba --wtag=ab 2048x512:512x256_n"layer"
--dt=u8:s8:f32 2048x512:512x300
--reset --dt=s8:s8:s32 --batch=shapes_b
END
echo '12x128x64:12x64x128_n"encoder"' > one/tests/benchdnn/inputs/matmul/shapes_b
echo '--dir=BWD_WB --dt=f32 mb256ic769oc2304n"BERT:1"' > one/tests/benchdnn/inputs/ip/perf_c
cat > roc/clients/gtest/gemm_gtest.yaml <<'END'
    - { M:  1568, N:  1024, K:   255, lda:  1568 }
#   - { M:  1568, N:  1024, K:   256, lda:  1568 }
END
printf 'counts,transA,transB,M,N,K,lda\n2,N,T,10240,1281,256,10240\n' > roc/scripts/counts/dgemm_a.csv

same() { diff <(sort "$1") <(sort "$2") || { echo "not what $3 states" >&2; exit 1; }; }
"$tool" -n 3 --type f16 deep > found
printf '%s\n' 'f16*f16 16x1760x1761' 'f16*f16 700x5124x2048 layout=nt' 'f16*f16 7133x4096x512 layout=tn' |
    sed 's/$/  # deep/' > wanted
same found wanted DeepBench
"$tool" -n 9 one > found 2> few
printf '%s\n' 'f16*f16 384x383x64 batch=896 layout=nt' 'bf16*bf16 2048x256x512 layout=tn' \
    'i8*i8 128x128x64 batch=12' '2304x769x256 layout=tn' | sed 's/$/  # one/' > wanted
same found wanted oneDNN
grep -q 'there are 4 problems, not 9' few
"$tool" -n 2 --type f32 roc > found
grep -q '^1024x1568x255' found
grep -q '^f64\*f64 1281x10240x256 layout=tn  # roc' found

for seed in 1 2 1; do "$tool" -n 6 --seed "$seed" deep one roc >> seeds; done
(($(wc -l < seeds) == 18))
cmp -s <(head -n 6 seeds) <(tail -n 6 seeds)
if cmp -s <(head -n 6 seeds) <(sed -n 7,12p seeds); then echo "another seed draws the same" >&2; exit 1; fi
(($(head -n 6 seeds | grep -c deep) == 2))
"$tool" . 2> why && exit 1
grep -q 'is no checkout' why
