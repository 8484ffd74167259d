/* A function with points and one that nobody calls. */
int shared;
void touch(void) { shared++; }
void unused(void) { shared--; }
