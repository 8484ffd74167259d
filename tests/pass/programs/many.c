/* The main program of the linking checks. */
void touch(void);
__attribute__((annotate("clew_no_yield"))) int main(void) { touch(); }
