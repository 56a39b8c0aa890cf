package io.rangeio.spark;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Filters as JSON. What cannot be said without loss is {"op":"unknown"}, which tells nothing.
 *
 * <pre>
 * filter = {"op": "and" | "or", "of": [filter, ...]} | {"op": "not", "of": filter}
 *        | {"op": comparison, "column": path, "type": type, "value": text | null}
 *        | {"op": "in", "column": path, "type": type, "values": [text | null, ...]}
 *        | {"op": "isNull" | "isNotNull", "column": path}
 *        | {"op": "true" | "false" | "unknown"}
 * comparison = "eq" | "eqNullSafe" | "lt" | "le" | "gt" | "ge"
 *            | "startsWith" | "endsWith" | "contains"
 * path = [name, ...], from the root of the schema
 * type = "boolean" | "byte" | "short" | "integer" | "long" | "float" | "double" | "decimal(p,s)"
 *      | "string" | "binary" | "date" | "timestamp" | "timestamp_ntz"
 * text = of numbers their digits, of a float those of the double it is, NaN, Infinity, -Infinity;
 *        of a date its days, of timestamps their microseconds since 1970 (UTC); of binary base64
 * </pre>
 */
final class FilterText {
  private static final Map<String, String> COMPARED =
      Map.of(
          "=", "eq", "<=>", "eqNullSafe", "<", "lt", "<=", "le", ">", "gt", ">=", "ge",
          "STARTS_WITH", "startsWith", "ENDS_WITH", "endsWith", "CONTAINS", "contains");

  private static final Set<String> WHOLE =
      Set.of("boolean", "byte", "short", "integer", "long", "double", "timestamp_ntz");

  /** 1901-01-01: what is older went through the Julian calendar, and may be another day now. */
  private static final int MODERN_DAY = -25202;

  private static final long DAY_MICROS = 86_400_000_000L;

  /** Spark's key for the declared type of a char or varchar column, which it pads itself. */
  private static final String PADDED = "__CHAR_VARCHAR_TYPE_STRING";

  private static final String UNKNOWN = "{\"op\":\"unknown\"}";

  private final StructType table;

  FilterText(StructType table) {
    this.table = table;
  }

  /** All of them together. */
  String of(Filter[] filters) {
    return joined("and", Arrays.stream(filters).map(this::one));
  }

  /** By Spark's second kind of filters, whose names are split and whose values are its own. */
  private String one(Filter filter) {
    try {
      return one(filter.toV2());
    } catch (LinkageError | RuntimeException error) {
      return UNKNOWN;
    }
  }

  /** A chain of a thousand ORs is a tree as deep, which few readers of JSON would take. */
  private static Stream<Expression> flat(String name, Expression one) {
    boolean same = one instanceof Predicate && ((Predicate) one).name().equals(name);
    return same ? Arrays.stream(one.children()).flatMap(each -> flat(name, each)) : Stream.of(one);
  }

  private static String joined(String op, Stream<String> parts) {
    return parts.collect(Collectors.joining(",", "{\"op\":\"" + op + "\",\"of\":[", "]}"));
  }

  private String one(Expression filter) {
    String name = filter instanceof Predicate ? ((Predicate) filter).name() : "";
    Expression[] of = filter.children();
    switch (name) {
      case "AND":
      case "OR":
        return joined(name.toLowerCase(Locale.ROOT), flat(name, filter).map(this::one));
      case "NOT":
        return "{\"op\":\"not\",\"of\":" + one(of[0]) + "}";
      case "ALWAYS_TRUE":
        return "{\"op\":\"true\"}";
      case "ALWAYS_FALSE":
        return "{\"op\":\"false\"}";
      case "IS_NULL":
        return about(of[0], "isNull", "");
      case "IS_NOT_NULL":
        return about(of[0], "isNotNull", "");
      case "IN":
        return listed(of);
      default:
        return COMPARED.containsKey(name) ? compared(COMPARED.get(name), of) : UNKNOWN;
    }
  }

  private String compared(String op, Expression[] of) {
    String type = type(of[0]);
    String value = text(of[1], type);
    return value == null ? UNKNOWN : typed(of[0], op, type, ",\"value\":" + value);
  }

  private String listed(Expression[] of) {
    String type = type(of[0]);
    List<String> values = Stream.of(of).skip(1).map(one -> text(one, type)).toList();
    String list = ",\"values\":[" + String.join(",", values) + "]";
    return values.contains(null) ? UNKNOWN : typed(of[0], "in", type, list);
  }

  private static String typed(Expression column, String op, String type, String rest) {
    return about(column, op, ",\"type\":\"" + type + "\"" + rest);
  }

  private static String about(Expression column, String op, String rest) {
    String path =
        Stream.of(((NamedReference) column).fieldNames())
            .map(FilterText::quoted)
            .collect(Collectors.joining(","));
    return "{\"op\":\"" + op + "\",\"column\":[" + path + "]" + rest + "}";
  }

  /**
   * Spark's own name of a column's type. That of a string with a collation has more words, and
   * that of one that Spark pads is not "string", so that neither is taken for plain text.
   */
  private String type(Expression column) {
    DataType type = table;
    boolean spaced = false;
    for (String name : ((NamedReference) column).fieldNames()) {
      StructField field = ((StructType) type).apply(name);
      spaced |= field.metadata().contains(PADDED);
      type = field.dataType();
    }
    return spaced ? "padded" : type.typeName();
  }

  /** A value of that type as JSON, which may be null; null itself where text would lose it. */
  private static String text(Expression literal, String type) {
    Object value = ((Literal<?>) literal).value();
    if (value == null) {
      return "null";
    }
    if (WHOLE.contains(type)) {
      return quoted(value.toString());
    }
    switch (type) {
      case "float":
        return quoted(Double.toString((Float) value));
      case "binary":
        return quoted(Base64.getEncoder().encodeToString((byte[]) value));
      case "string":
        return characters((UTF8String) value);
      case "date":
        return days((Integer) value);
      case "timestamp":
        return (Long) value < MODERN_DAY * DAY_MICROS ? null : quoted(value.toString());
      default:
        return type.startsWith("decimal(") ? decimal((Decimal) value) : null;
    }
  }

  /**
   * Spark hands over dates as midnights of the zone of the JVM. Where that zone skipped a whole
   * day, the day after it may stand for it.
   */
  private static String days(int day) {
    LocalDateTime before = LocalDate.ofEpochDay(day).minusDays(1).atTime(12, 0);
    boolean skipped = ZoneId.systemDefault().getRules().getTransition(before) != null;
    return day < MODERN_DAY || skipped ? null : quoted(Integer.toString(day));
  }

  private static String decimal(Decimal value) {
    return quoted(value.toJavaBigDecimal().toPlainString());
  }

  /** Bytes that are no text would come back as others. */
  private static String characters(UTF8String value) {
    String text = value.toString();
    return UTF8String.fromString(text).equals(value) ? quoted(text) : null;
  }

  /** A JSON string of ASCII alone. */
  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char one : text.toCharArray()) {
      if (one == '"' || one == '\\') {
        out.append('\\').append(one);
      } else if (one >= ' ' && one < 127) {
        out.append(one);
      } else {
        out.append(String.format("\\u%04x", (int) one));
      }
    }
    return out.append('"').toString();
  }
}
