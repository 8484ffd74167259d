// Does nothing, to show what `clew run` itself costs.
int main(void) { return 0; }
