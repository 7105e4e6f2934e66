// The products of cuBLAS for the recording back end: the emulator's, on memory that is not aligned.
#define on_emulator emulator_of_recorder
#include "cuda/device/product_emulated.cpp"
