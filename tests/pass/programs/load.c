/* Opens the library named by its argument and calls touch() there. */
#include <dlfcn.h>
__attribute__((annotate("clew_no_yield"))) int main(int argc, char** argv) {
  void* library = dlopen(argv[argc - 1], RTLD_NOW);
  if (!library) return 1;
  ((void (*)(void))dlsym(library, "touch"))();
  return 0;
}
