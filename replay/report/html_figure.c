#include "replay/report/html_figure.h"

#include <stdlib.h>

#include "trace/base/mem.h"

static char *base64(const unsigned char *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = mem_zalloc((n + 2) / 3 * 4 + 1, 1, NULL);
    for (size_t i = 0, o = 0; out && i < n; i += 3, o += 4) {
        unsigned v =
            (unsigned)data[i] << 16 | (i + 1 < n ? (unsigned)data[i + 1] << 8 : 0) | (i + 2 < n ? data[i + 2] : 0u);
        out[o] = digits[v >> 18];
        out[o + 1] = digits[v >> 12 & 63];
        out[o + 2] = i + 1 < n ? digits[v >> 6 & 63] : '=';
        out[o + 3] = i + 2 < n ? digits[v & 63] : '=';
    }
    return out;
}

/* All of a file as base64; NULL if it is empty or cannot be read. */
static char *encode(FILE *file)
{
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    unsigned char *data = size > 0 ? mem_zalloc((size_t)size, 1, NULL) : NULL;
    char *text = NULL;
    if (data && fseek(file, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)size, file) == (size_t)size)
        text = base64(data, (size_t)size);
    free(data);
    return text;
}

char *html_figure(const struct figure *figure, const struct figure_input *input)
{
    struct err err = {""};
    FILE *svg = tmpfile();
    if (!svg)
        return NULL;
    char *text = plot_draw_into(figure, input, "figure.svg", svg, &err) == 0 ? encode(svg) : NULL;
    (void)fclose(svg);
    return text;
}
