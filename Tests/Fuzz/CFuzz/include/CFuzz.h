/* libFuzzer's own main loop, https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));
