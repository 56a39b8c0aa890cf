package io.rangeio.spark;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Plans the read of many files by a Spark job: a read of the same data source whose rows are plans.
 * The Python reader finds them in a file of the driver's disk, which is gone when it has read it.
 */
final class PlanJob {
  /** Option: from how many files on. */
  static final String MANY = "planningJobFiles";

  static final long MOST_BY_DRIVER = 1000;

  /** Option: of the job's own read. */
  static final String STAGE = "__pushed_stage";
  private static final String WISH = "__pushed_wish";
  private static final String PLANS = "__pushed_plans";

  private final StructType columns;
  private final CaseInsensitiveStringMap options;
  private final Function<CaseInsensitiveStringMap, ScanBuilder> python;

  PlanJob(
      StructType columns,
      CaseInsensitiveStringMap options,
      Function<CaseInsensitiveStringMap, ScanBuilder> python) {
    this.columns = columns;
    this.options = options;
    this.python = python;
  }

  /** A batch whose partitions are planned already. */
  Batch run() {
    List<Row> plans =
        SparkSession.active()
            .read()
            .format(RangeProvider.NAME)
            .schema(new StructType().add("plan", DataTypes.BinaryType))
            .options(
                RangeProvider.with(options, Map.of(STAGE, "plan", WISH, columns.json()))
                    .asCaseSensitiveMap())
            .load()
            .collectAsList();
    try {
      return planned(plans);
    } catch (IOException error) {
      throw new UncheckedIOException("rangeio: the plans of a read cannot be handed on", error);
    }
  }

  private Batch planned(List<Row> plans) throws IOException {
    Path file = Files.createTempFile("rangeio-", ".plans"); // for this user alone
    try {
      write(plans, file);
      Map<String, String> told = Map.of(PLANS, file.toString());
      Batch batch = python.apply(RangeProvider.with(options, told)).build().toBatch();
      batch.planInputPartitions(); // Python is asked here, once
      return batch;
    } finally {
      Files.delete(file);
    }
  }

  private static void write(List<Row> plans, Path file) throws IOException {
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(file))) {
      for (Row row : plans) {
        byte[] plan = row.getAs(0);
        out.writeInt(plan.length);
        out.write(plan);
      }
    }
  }
}
