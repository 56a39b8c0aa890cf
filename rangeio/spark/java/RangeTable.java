package io.rangeio.spark;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.slf4j.LoggerFactory;

/** Spark's own table of a Python data source, of which only the making of scans is replaced. */
final class RangeTable implements SupportsRead, SupportsWrite {
  private static volatile boolean told = false;

  private final Table python;
  private final Map<String, String> options;
  private final long rows;
  private final long files;

  /** options: of all uses. rows: of all files; both below 0 where unknown. */
  RangeTable(Table python, Map<String, String> options, long rows, long files) {
    this.python = python;
    this.options = options;
    this.rows = rows;
    this.files = files;
  }

  @Override
  public String name() {
    return python.name();
  }

  // Deprecated, and asked for all the same: the columns that Spark asks for are made from it.
  @Override
  @SuppressWarnings("deprecation")
  public StructType schema() {
    return python.schema();
  }

  @Override
  public Transform[] partitioning() {
    return python.partitioning();
  }

  @Override
  public Map<String, String> properties() {
    return python.properties();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return python.capabilities();
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return ((SupportsWrite) python).newWriteBuilder(info);
  }

  /** A builder that prunes; Spark's own, which does not, where its inner classes have changed. */
  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap use) {
    CaseInsensitiveStringMap all = SessionOptions.of(options, use);
    try {
      return new RangeScanBuilder(schema(), all, rows, files);
    } catch (LinkageError error) {
      tell(error);
      return ((SupportsRead) python).newScanBuilder(all);
    }
  }

  private static void tell(LinkageError error) {
    if (!told) {
      told = true;
      LoggerFactory.getLogger(RangeTable.class)
          .warn("rangeio: columns are not pruned, the jar does not know this Spark", error);
    }
  }
}
