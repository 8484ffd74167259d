/* All of its points are in code that --gc-sections drops. */
int shared;
void unused(void) { shared--; }
__attribute__((annotate("clew_no_yield"))) int main(void) { return 0; }
