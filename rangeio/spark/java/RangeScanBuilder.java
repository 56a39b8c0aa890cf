package io.rangeio.spark;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownFilters;
import org.apache.spark.sql.connector.read.SupportsPushDownLimit;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScanBuilder;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Tells the Python reader the columns by its schema, the filters and the limit by options. */
final class RangeScanBuilder
    implements SupportsPushDownRequiredColumns, SupportsPushDownFilters, SupportsPushDownLimit {
  /** Option, in every scan: how many columns there are, of which the schema may name fewer. */
  static final String COLUMNS = "__pushed_columns";

  /** Option: the filters, in the grammar of FilterText. */
  static final String FILTERS = "__pushed_filters";

  /** Option: no partition needs to yield more rows than this. */
  static final String LIMIT = "__pushed_limit";

  private final StructType table;
  private final CaseInsensitiveStringMap options;
  private final long rows;
  private final long files;
  private StructType columns;
  private Filter[] filters = new Filter[0];
  private int limit = -1;

  /** Raises a LinkageError where Spark's inner classes are not those that build() needs. */
  RangeScanBuilder(
      StructType table, CaseInsensitiveStringMap options, long rows, long files) {
    this.table = table;
    this.options = options;
    this.rows = options.getLong(RangeScan.ESTIMATED, rows);
    this.files = files;
    this.columns = table;
    inner(options);
  }

  private PythonScanBuilder inner(CaseInsensitiveStringMap all) {
    return new PythonScanBuilder(RangeProvider.python(), RangeProvider.NAME, columns, all);
  }

  /**
   * Whether there are so many files that a job of its own is to plan the read. Where the user gave
   * the schema nobody listed them yet, and only who asks for such jobs by the option pays for it.
   */
  private boolean many() {
    long least = options.getLong(PlanJob.MANY, PlanJob.MOST_BY_DRIVER);
    boolean unknown = files < 0 && options.containsKey(PlanJob.MANY);
    if (limit >= 0 || options.containsKey(PlanJob.STAGE)) { // which is such a job itself
      return false;
    }
    return (unknown ? RangeProvider.files(options) : files) >= least;
  }

  /** Whole top-level columns: a struct of which some fields are required is read whole. */
  @Override
  public void pruneColumns(StructType required) {
    StructField[] kept =
        Arrays.stream(table.fields())
            .filter(field -> required.getFieldIndex(field.name()).isDefined())
            .toArray(StructField[]::new);
    columns = new StructType(kept.length > 0 ? kept : narrowest());
  }

  /** count() asks for no column at all, of which Spark 4.0 makes a count of 0. */
  private StructField[] narrowest() {
    return Arrays.stream(table.fields())
        .min(Comparator.comparingInt(field -> field.dataType().defaultSize()))
        .map(field -> new StructField[] {field})
        .orElse(new StructField[0]);
  }

  /**
   * All are handed on, and all are left to Spark to check again. These are filters of the first
   * kind: some of the second Spark fails to make, with an error, from what it runs well.
   */
  @Override
  public Filter[] pushFilters(Filter[] asked) {
    filters = asked;
    return asked;
  }

  @Override
  public Filter[] pushedFilters() {
    return filters;
  }

  /** Before a filter that Spark checks again, no row can be left out. */
  @Override
  public boolean pushLimit(int most) {
    if (filters.length > 0) {
      return false;
    }
    limit = most;
    return true;
  }

  /** Each partition keeps to the limit, Spark to that of all. */
  @Override
  public boolean isPartiallyPushed() {
    return true;
  }

  @Override
  public Scan build() {
    Map<String, String> pushed = new HashMap<>();
    pushed.put(COLUMNS, Integer.toString(table.length()));
    if (filters.length > 0) {
      pushed.put(FILTERS, new FilterText(table).of(filters));
    }
    if (limit >= 0) {
      pushed.put(LIMIT, Integer.toString(limit));
    }
    CaseInsensitiveStringMap all = RangeProvider.with(options, pushed);
    PlanJob job = many() ? new PlanJob(columns, all, this::inner) : null;
    return new RangeScan(inner(all).build(), job, table, columns, all, rows);
  }
}
