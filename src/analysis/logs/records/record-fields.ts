import { LEVEL_SPELLINGS } from '../topics/level-words.js'

/**
 * Where the usual writers of JSON put what a line says: pino, bunyan, zap, logrus, log4j and logback, serilog, structlog, klog, winston,
 * Python and .NET, ECS, OpenTelemetry, GELF, and access logs. The first field that is there counts.
 */
export const RECORD_FIELDS = {
  message: [
    ...[
      'message',
      'msg',
      '@m',
      '@mt',
      'event',
      'RenderedMessage',
      'MessageTemplate',
      'Message',
      '@message',
      'MESSAGE',
    ],
    ...[
      'short_message',
      'textPayload',
      'body',
      'Body',
      'fields.message',
      'jsonPayload.message',
      'log',
      'content',
      'text',
    ],
  ],
  level: [
    ...[
      'log.level',
      'level',
      'severity',
      'levelname',
      '@l',
      'Level',
      'LogLevel',
      'severityText',
      'SeverityText',
    ],
    ...[
      'severity_text',
      '@level',
      'record.level',
      'lvl',
      'loglevel',
      'log_level',
      'level_name',
      'jsonPayload.level',
      'priority',
      'PRIORITY',
    ],
    ...['severityNumber', 'SeverityNumber', 'severity_number', 'levelno', 's', 'type'],
  ],
  errorType: [
    ...[
      'error.type',
      'err.type',
      'err.name',
      'error.name',
      'error.kind',
      'exception.type',
      'exception.class',
    ],
    ...[
      'exception.exception_class',
      'thrown.name',
      'exc_type',
      'attributes.exception.type',
      'Attributes.exception.type',
    ],
  ],
  errorMessage: [
    ...['error.message', 'err.message', 'exception.message', 'exception.exception_message', 'thrown.message'],
    ...['attributes.exception.message', 'Attributes.exception.message', 'error', 'err', 'exc_value'],
  ],
  stack: [
    ...[
      'error.stack_trace',
      'error.stack',
      'err.stack',
      'stack_trace',
      'stacktrace',
      'stack',
      'exception.stacktrace',
    ],
    ...['thrown.extendedStackTrace', 'exc_info', 'exception', '@x', 'Exception', 'errorVerbose'],
    ...['attributes.exception.stacktrace', 'Attributes.exception.stacktrace'],
  ],
  status: [
    ...[
      'http.response.status_code',
      'status',
      'status_code',
      'statusCode',
      'res.statusCode',
      'response.status',
    ],
    ...[
      'http.status_code',
      'response_code',
      'responseCode',
      'httpRequest.status',
      'StatusCode',
      'sc-status',
      'DownstreamStatus',
    ],
  ],
  /** How long a request took. */
  duration: [
    ...[
      'duration_ms',
      'durationMs',
      'duration',
      'responseTime',
      'response_time',
      'responseTimeMs',
      'latency_ms',
      'latency',
    ],
    ...[
      'request_time',
      'requestTime',
      'elapsed_ms',
      'elapsedMs',
      'elapsed',
      'Elapsed',
      'took',
      'time_taken',
      'Duration',
    ],
    ...['http.server.request.duration', 'httpRequest.latency', 'event.duration'],
  ],
  method: [
    ...[
      'http.request.method',
      'method',
      'req.method',
      'request.method',
      'request_method',
      'http.method',
      'verb',
    ],
    ...['httpRequest.requestMethod', 'RequestMethod'],
  ],
  path: [
    ...[
      'http.route',
      'route',
      'url.path',
      'path',
      'req.url',
      'uri',
      'request.uri',
      'request_uri',
      'requestURI',
    ],
    ...['request.path', 'url', 'httpRequest.requestUrl', 'RequestPath'],
  ],
  time: [
    ...[
      '@timestamp',
      'time',
      'timestamp',
      'ts',
      '@t',
      'Timestamp',
      'timeMillis',
      'asctime',
      'date',
      'datetime',
    ],
    ...['timeUnixNano', 'observedTimeUnixNano', 'eventTime', 'instant.epochSecond'],
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** A level as lines state it, of a word or a number in the named field; undefined for what is none. */
export function levelOf(field: string, value: string): string | undefined {
  const isNumber = /^\d+$/.test(value)
  if (isNumber) return levelOfNumber(field, Number(value))
  return LEVEL_WORDS.get(value.trim().toUpperCase())
}

/** What text states of itself counts in a field too, and there also letters. */
const LEVEL_WORDS = new Map(
  Object.entries({
    FATAL: [...LEVEL_SPELLINGS.fatal.split('|'), 'F', 'C'],
    SEVERE: [LEVEL_SPELLINGS.severe],
    ERROR: [...LEVEL_SPELLINGS.error.split('|'), 'E', 'FAIL'],
    WARN: [...LEVEL_SPELLINGS.warn.split('|'), 'W'],
    INFO: ['INFO', 'INFORMATION', 'I', 'INF', 'NOTICE', 'LOG', 'CONFIG', 'OK', 'DEFAULT'],
    DEBUG: [
      ...['DEBUG', 'D', 'DBG', 'TRACE', 'TRC', 'T', 'VERBOSE', 'VRB', 'V', 'FINE', 'FINER', 'FINEST'],
      ...['SILLY', 'HTTP'],
    ],
  }).flatMap(([level, words]) => words.map((word) => [word, level] as const)),
)

/** Least numbers of FATAL, ERROR, WARN and INFO. */
type Scale = readonly [number, number, number, number]
const OPEN_TELEMETRY: Scale = [21, 17, 13, 9]
const PYTHON: Scale = [50, 40, 30, 20]
const PINO: Scale = [60, 50, 40, 30]
const JAVA: Scale = [1100, 1000, 900, 700]
const LARGEST_OF_SYSLOG = 7

function levelOfNumber(field: string, value: number): string {
  if (/number$/i.test(field)) return onScale(value, OPEN_TELEMETRY)
  if (field === 'levelno') return onScale(value, PYTHON)
  // Syslog counts the other way round.
  if (value <= LARGEST_OF_SYSLOG) {
    return value <= 2 ? 'FATAL' : value === 3 ? 'ERROR' : value === 4 ? 'WARN' : 'INFO'
  }
  return onScale(value, value > 100 ? JAVA : PINO)
}

function onScale(value: number, [fatal, error, warn, info]: Scale): string {
  if (value >= fatal) return 'FATAL'
  if (value >= error) return 'ERROR'
  if (value >= warn) return 'WARN'
  return value >= info ? 'INFO' : 'DEBUG'
}
