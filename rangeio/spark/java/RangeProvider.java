package io.rangeio.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's own Python data source named "rangeio", with the column pruning, filters, limit and
 * statistics that Spark gives to sources of the JVM only. All work stays in Python.
 */
public final class RangeProvider implements TableProvider, DataSourceRegister {
  static final String NAME = "rangeio";

  /** Set for the Python source's schema(): it may tell the rows by the metadata below. */
  static final String WANTED = "__pushed_statistics";

  /** Metadata of the first field of an inferred schema: how many rows there are in all. */
  static final String ROWS = "rangeio.rows";

  /** Metadata of the same field: how many files there are. */
  static final String FILES = "rangeio.files";

  private long rows = -1;
  private long files = -1;

  /** A new one each time, for it remembers the options and the plan of its first use. */
  static PythonDataSourceV2 python() {
    PythonDataSourceV2 python = new PythonDataSourceV2();
    python.setShortName(NAME);
    return python;
  }

  /** The options as Python is to see them: some more, and without those that are for the jar. */
  static CaseInsensitiveStringMap with(CaseInsensitiveStringMap options, Map<String, String> more) {
    Map<String, String> all = new HashMap<>(options.asCaseSensitiveMap());
    all.keySet().removeIf(RangeScan.ESTIMATED::equalsIgnoreCase);
    all.putAll(SessionOptions.beside(options));
    all.putAll(more);
    return new CaseInsensitiveStringMap(all);
  }

  @Override
  public String shortName() {
    return NAME;
  }

  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    Redaction.extend();
    StructType schema = looked(options);
    rows = told(schema, ROWS);
    files = told(schema, FILES);
    return schema.length() == 0 ? schema : untold(schema);
  }

  /** How many files there are; below 0 where nobody knows. */
  static long files(CaseInsensitiveStringMap options) {
    return told(looked(options), FILES);
  }

  private static StructType looked(CaseInsensitiveStringMap options) {
    return python().inferSchema(with(options, Map.of(WANTED, "field")));
  }

  private static long told(StructType schema, String what) {
    Metadata first = schema.length() == 0 ? Metadata.empty() : schema.fields()[0].metadata();
    return first.contains(what) ? first.getLong(what) : -1;
  }

  /** The schema as the user is to see it. */
  private static StructType untold(StructType schema) {
    StructField[] fields = schema.fields().clone();
    StructField first = fields[0];
    fields[0] =
        new StructField(
            first.name(),
            first.dataType(),
            first.nullable(),
            new MetadataBuilder()
                .withMetadata(first.metadata())
                .remove(ROWS)
                .remove(FILES)
                .build());
    return new StructType(fields);
  }

  /**
   * Of a schema of which anything may be null, as of Spark's own sources of files: what a user, or
   * a table of the catalog, says of that is no promise that files keep.
   */
  @Override
  public Table getTable(StructType schema, Transform[] partitions, Map<String, String> options) {
    Redaction.extend();
    Table table = python().getTable(schema.asNullable(), partitions, options);
    return new RangeTable(table, options, rows, files);
  }
}
