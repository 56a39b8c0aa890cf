package io.rangeio.spark;

import java.time.ZoneId;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.slf4j.LoggerFactory;

/** Options that are not given are those of the session, as for Spark's own sources. */
final class SessionOptions {
  private static final String ZONE = "timeZone";
  private static final String CORRUPT = "ignoreCorruptFiles";
  private static final String MISSING = "ignoreMissingFiles";

  private SessionOptions() {}

  /** Those that the session says and the user does not. */
  static Map<String, String> beside(CaseInsensitiveStringMap given) {
    Map<String, String> said = new HashMap<>();
    try {
      SQLConf conf = SQLConf.get();
      said.put(ZONE, named(conf.sessionLocalTimeZone()));
      said.put(CORRUPT, Boolean.toString(conf.ignoreCorruptFiles()));
      said.put(MISSING, Boolean.toString(conf.ignoreMissingFiles()));
    } catch (LinkageError | RuntimeException error) {
      LoggerFactory.getLogger(SessionOptions.class).debug("rangeio: no settings are seen", error);
    }
    said.keySet().removeIf(given::containsKey);
    return said;
  }

  /** Short names as PST are known to Java alone. */
  private static String named(String zone) {
    return ZoneId.SHORT_IDS.getOrDefault(zone, zone);
  }

  /** Those of a table, over which go those of one use of it. Spark hands a use its own alone. */
  static CaseInsensitiveStringMap of(Map<String, String> table, CaseInsensitiveStringMap use) {
    Map<String, String> all = new HashMap<>(new CaseInsensitiveStringMap(table));
    all.putAll(use);
    return new CaseInsensitiveStringMap(all);
  }
}
