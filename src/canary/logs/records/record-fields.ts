import { LEVEL_SPELLINGS } from '../topics/level-words.js'

/**
 * The fields of common JSON writers: pino, bunyan, zap, logrus, log4j and logback, serilog,
 * structlog, klog, winston, Python and .NET, ECS, OpenTelemetry, GELF, and access logs. The first
 * existing field counts.
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
      'level_name',
      'LevelDisplayName',
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
      'error_severity',
      'Severity',
      'severityLevel',
      'SeverityLevel',
      'jsonPayload.level',
      'priority',
      'PRIORITY',
    ],
    ...[
      'severityNumber',
      'SeverityNumber',
      'severity_number',
      'levelno',
      'level_value',
      'LevelValue',
      's',
      'type',
    ],
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
  /** The status of gRPC, which the HTTP status does not show. */
  grpc: ['grpc.code', 'grpc_status', 'grpc.status_code', 'grpc_code', 'rpc.grpc.status_code'],
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

/** Levels of fields: the spellings in messages, and single letters. */
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
const PINO: Scale = [60, 50, 40, 30]
const JAVA: Scale = [1100, 1000, 900, 700]
const MONOLOG: Scale = [500, 400, 300, 200]
/** Numbers of fields that one kind of writers has. */
const SCALES: ReadonlyMap<string, Scale> = new Map([
  ...['severityNumber', 'SeverityNumber', 'severity_number'].map(
    (field) => [field, [21, 17, 13, 9] satisfies Scale] as const,
  ),
  // Python, Logback, .NET, Application Insights
  ['levelno', [50, 40, 30, 20]],
  ['level_value', [50_000, 40_000, 30_000, 20_000]],
  ['LevelValue', JAVA],
  ['LogLevel', [5, 4, 3, 2]],
  ...['severityLevel', 'SeverityLevel'].map((field) => [field, [4, 3, 2, 1] satisfies Scale] as const),
])
const GOOGLE: Scale = [600, 500, 400, 200]
const LARGEST_OF_SYSLOG = 7
const MIN_OF_MONOLOG = 100
const MIN_OF_JAVA = 700
/** Members that mark a numeric level as one of Windows: 1 critical, 2 error, 3 warning. */
const OF_WINDOWS = ['ProviderName', 'Channel', 'EventID', 'EventId', 'EventRecordID', 'RecordId']

/**
 * The level of a word or a number in the named field of a record, in the spelling of lines.
 * Undefined if it is not a level.
 */
export function levelOf(
  field: string,
  value: string,
  record: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!/^\d+$/.test(value)) {
    const word = value.trim().toUpperCase()
    // MongoDB numbers its debug levels.
    return LEVEL_WORDS.get(/^D[1-5]$/.test(word) ? 'D' : word)
  }
  const number = Number(value)
  const isWindows = field === 'Level' && OF_WINDOWS.some((name) => name in record)
  if (isWindows)
    return number > 3 || number === 0 ? 'INFO' : (['FATAL', 'ERROR', 'WARN'][number - 1] ?? 'INFO')
  const scale = SCALES.get(field)
  return scale === undefined ? levelOfNumber(field, number) : onScale(number, scale)
}

function levelOfNumber(field: string, value: number): string {
  // Syslog counts the other way round.
  if (value <= LARGEST_OF_SYSLOG)
    return value <= 2 ? 'FATAL' : value === 3 ? 'ERROR' : value === 4 ? 'WARN' : 'INFO'
  if (value < MIN_OF_MONOLOG) return onScale(value, PINO)
  if (field === 'severity') return onScale(value, GOOGLE)
  return onScale(value, value < MIN_OF_JAVA ? MONOLOG : JAVA)
}

function onScale(value: number, [fatal, error, warn, info]: Scale): string {
  if (value >= fatal) return 'FATAL'
  if (value >= error) return 'ERROR'
  if (value >= warn) return 'WARN'
  return value >= info ? 'INFO' : 'DEBUG'
}
