package io.rangeio.spark;

import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.ContinuousStream;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's own scan of a Python data source. Two that read the same are equal, so that Spark
 * exchanges their rows once.
 */
final class RangeScan implements SupportsReportStatistics {
  /** Option: how many rows there are in all, by which joins are planned. */
  static final String ESTIMATED = "estimatedRows";

  /** What Spark itself adds to each row. */
  private static final int ROW_OVERHEAD = 8;

  private static final int MOST_SHOWN = 400;

  private final Scan python;
  private final PlanJob job;
  private final StructType table;
  private final StructType columns;
  private final CaseInsensitiveStringMap options;
  private final long rows;

  /** job: by which the read is planned; null: where the driver is. */
  RangeScan(
      Scan python,
      PlanJob job,
      StructType table,
      StructType columns,
      CaseInsensitiveStringMap options,
      long rows) {
    this.python = python;
    this.job = job;
    this.table = table;
    this.columns = columns;
    this.options = options;
    this.rows = rows;
  }

  @Override
  public StructType readSchema() {
    return columns;
  }

  /** For the plan that people read: no option is in it but filters and limit, for secrets. */
  @Override
  public String description() {
    String filters = options.getOrDefault(RangeScanBuilder.FILTERS, "none");
    String shown =
        filters.length() > MOST_SHOWN ? filters.substring(0, MOST_SHOWN) + "..." : filters;
    String limit = options.getOrDefault(RangeScanBuilder.LIMIT, "none");
    return String.format(
        "rangeio columns: %d of %d, filters: %s, limit: %s",
        columns.length(), table.length(), shown, limit);
  }

  /**
   * The rows times the width that Spark takes for the columns read. Where nobody said how many
   * rows there are nothing is said: a size made up could broadcast what fits in no memory.
   */
  @Override
  public Statistics estimateStatistics() {
    return new Statistics() {
      @Override
      public OptionalLong sizeInBytes() {
        long width = ROW_OVERHEAD + columns.defaultSize();
        return rows < 0 ? OptionalLong.empty() : OptionalLong.of(Math.max(1, rows) * width);
      }

      @Override
      public OptionalLong numRows() {
        return rows < 0 ? OptionalLong.empty() : OptionalLong.of(rows);
      }
    };
  }

  @Override
  public Batch toBatch() {
    return new Rows(job == null ? python::toBatch : job::run, key());
  }

  private List<Object> key() {
    return List.of(table, columns, options.asCaseSensitiveMap());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RangeScan && key().equals(((RangeScan) other).key());
  }

  @Override
  public int hashCode() {
    return key().hashCode();
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpoints) {
    return python.toMicroBatchStream(checkpoints);
  }

  @Override
  public ContinuousStream toContinuousStream(String checkpoints) {
    return python.toContinuousStream(checkpoints);
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return python.supportedCustomMetrics();
  }

  @Override
  public CustomTaskMetric[] reportDriverMetrics() {
    return python.reportDriverMetrics();
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return python.columnarSupportMode();
  }

  /** Spark compares batches, not scans, where it looks for exchanges to reuse. */
  private static final class Rows implements Batch {
    private final Supplier<Batch> made;
    private final List<Object> key;
    private Batch python;

    Rows(Supplier<Batch> made, List<Object> key) {
      this.made = made;
      this.key = key;
    }

    /** Made when Spark first wants to know its partitions: explain() alone plans nothing. */
    private synchronized Batch python() {
      if (python == null) {
        python = made.get();
      }
      return python;
    }

    @Override
    public InputPartition[] planInputPartitions() {
      return python().planInputPartitions();
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return python().createReaderFactory();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Rows && key.equals(((Rows) other).key);
    }

    @Override
    public int hashCode() {
      return key.hashCode();
    }
  }
}
