/* measure FILE CMD [ARGS]: run CMD; write its wall time, processor time (s) and peak memory (KiB) to FILE. Exits as CMD
 * does. A program of its own, so that the peak is not that of whoever starts it. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

int main(int argc, char **argv)
{
    struct timespec start, end;
    struct rusage use;
    int status;
    if (argc < 3)
        return 2;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        (void)execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &use) != child)
        return 126;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *f = fopen(argv[1], "w");
    if (!f)
        return 126;
    (void)fprintf(f, "%.6f %.6f %ld\n",
                  (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec),
                  seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss);
    (void)fclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
