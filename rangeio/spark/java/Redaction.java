package io.rangeio.spark;

import org.apache.spark.sql.RuntimeConfig;
import org.apache.spark.sql.SparkSession;
import org.slf4j.LoggerFactory;

/**
 * Has Spark show no value of an option "storage.*" wherever it shows options: by itself it hides
 * those whose names say secret, password or token, and not "storage.key".
 */
final class Redaction {
  private static final String CONF = "spark.sql.redaction.options.regex";
  private static final String HIDDEN = "(?i:storage\\.)";

  private Redaction() {}

  /** For the session that asks; what it knows already stays. */
  static void extend() {
    try {
      RuntimeConfig conf = SparkSession.active().conf();
      String before = conf.get(CONF, "");
      if (!before.contains(HIDDEN)) {
        conf.set(CONF, before.isEmpty() ? HIDDEN : "(?:" + before + ")|" + HIDDEN);
      }
    } catch (RuntimeException error) {
      LoggerFactory.getLogger(Redaction.class).debug("rangeio: {} stays as it is", CONF, error);
    }
  }
}
