/* Includes the file for a schema that is not there. */
#include "trace/store/schema.c"

#include "trace/base/testing.h"

START_TEST(the_embedded_schemas_are_read_as_they_stand)
{
    struct schema *schema = GIVES(schema_trace(&err));
    struct schema_table *services = GIVES(schema_find(schema, "services"));
    ck_assert_int_eq(services->columns, 12);
    ck_assert_str_eq(services->column[2].name, "block_addr");
    ck_assert_int_eq(services->column[2].type, SCHEMA_INTEGER);
    ck_assert(services->column[2].required);
    ck_assert(!services->column[3].required);
    ck_assert_int_eq(services->column[11].type, SCHEMA_REAL);
    ck_assert_int_eq(schema_find(schema, "chunks")->column[8].type, SCHEMA_BLOB);
    ck_assert_ptr_null(schema_find(schema, "nothing"));
    free(schema);
    schema = GIVES(schema_results(&err));
    ck_assert_int_eq(schema->count, 6);
    free(schema);
    GIVES_NONE(schema_load("trace/nothing.sql", 1, 1, "x", &err), "");
}
END_TEST

START_TEST(a_database_made_by_a_schema_passes_its_check)
{
    struct err err = {""};
    struct schema *schema = schema_trace(&err), *results = schema_results(&err);
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(schema_check(schema, db, 1, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "not an offchip trace"));
    ck_assert_msg(schema_create(schema, db, &err) == 0, "%s", err.msg);
    ck_assert_msg(schema_check(schema, db, schema->count, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(schema_check(results, db, 1, &err), -1);
    /* A table that came later may be missing. */
    ck_assert_int_eq(sqlite3_exec(db, "DROP TABLE parameters", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(schema_check(schema, db, 5, &err), 0);
    ck_assert(!schema_find(schema, "parameters")->present);
    ck_assert_int_eq(schema_check(schema, db, schema->count, &err), -1);
    ck_assert_str_eq(err.msg, "table parameters is missing");
    sqlite3_close(db);
    free(schema);
    free(results);
}
END_TEST

START_TEST(every_table_is_documented)
{
    static char text[1 << 16];
    struct err err = {""};
    FILE *f = fopen("docs/trace-format.md", "rb");
    if (!f)
        return; /* run from elsewhere */
    size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[n] = 0;
    struct schema *schemas[] = {schema_trace(&err), schema_results(&err)};
    for (int s = 0; s < 2; s++) {
        for (int t = 0; t < schemas[s]->count; t++) {
            const char *name = testing_text("`%s`", schemas[s]->table[t].name);
            ck_assert_msg(strstr(text, name) != NULL, "docs/trace-format.md does not describe table %s", name);
        }
        free(schemas[s]);
    }
}
END_TEST

TEST_MAIN("schema")
