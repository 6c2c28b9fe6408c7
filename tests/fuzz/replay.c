/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over files, without libFuzzer: so each corpus is a regression test under any
 * compiler. usage: fuzz_replay_NAME FILE-OR-FOLDER...
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    /* Exactly as large as the input, so that AddressSanitizer sees a read behind its end. */
    size_t size = (size_t)info.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    int status = !bytes || fread(bytes, 1, size, file) != size;
    (void)fclose(file);
    if (status == 0) {
        (void)LLVMFuzzerTestOneInput(bytes, size);
    }
    free(bytes);
    return status;
}

static int run_folder(const char *path)
{
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    int status = count < 0;
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.') {
            char file[4096];
            (void)snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
            status |= run_file(file);
        }
        free(names[i]);
    }
    if (count >= 0) {
        free(names);
        (void)printf("%d files of %s\n", count > 2 ? count - 2 : 0, path);
    }
    return status;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        bool is_folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
        status |= is_folder ? run_folder(argv[i]) : run_file(argv[i]);
    }
    return status;
}
