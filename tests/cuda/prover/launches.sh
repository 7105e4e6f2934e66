# Sourced: builds the program that says what a rung launches (launches.cpp) from the kernels as the host's compiler sees
# them. build_launches ROOT FOLDER leaves FOLDER/launches.program.
build_launches() {
    local root=$1 objects=$2/launches source object
    mkdir -p "$objects"
    for source in "$root"/cuda/kernels/*.cu "$root"/cuda/emulator/*.cpp "$root/tests/cuda/prover/launches.cpp"; do
        [ "$(basename "$source")" != intrinsics.cu ] || continue
        object=$objects/$(basename "$source").o
        [ "$object" -nt "$source" ] &&
            [ -z "$(find "$root/cuda" "$root/tests/cuda/prover" -newer "$object" -name '*.[hc]*' -print -quit)" ] && continue
        ${CXX:-g++} -std=c++20 -O0 -w -I"$root/tests/cuda/prover" -I"$root" -x c++ -c "$source" -o "$object"
    done
    ${CXX:-g++} "$objects"/*.o -o "$2/launches.program" -lboost_context -ldl -lpthread
}
