/** How one of the usual writers puts an event into a line of JSON. */
export interface Dialect {
  readonly name: string
  readonly write: (level: 'info' | 'error', message: string, atMs: number) => string
}

const PINO_LEVELS = { info: 30, error: 50 }
const NANOSECONDS = '000000'
const MS_PER_SECOND = 1000

const dialect = (
  name: string,
  fields: (level: 'info' | 'error', message: string, at: Date) => object,
): Dialect => ({
  name,
  write: (level, message, atMs) => JSON.stringify(fields(level, message, new Date(atMs))),
})

/** Ten that are met most. */
export const DIALECTS: readonly Dialect[] = [
  dialect('pino', (level, msg, at) => ({
    ...{ level: PINO_LEVELS[level], time: at.getTime(), pid: 7, hostname: 'shop-1', msg },
  })),
  dialect('bunyan', (level, msg, time) => ({
    ...{ name: 'shop', hostname: 'shop-1', pid: 7, level: PINO_LEVELS[level], msg, time, v: 0 },
  })),
  dialect('zap', (level, msg, at) => ({
    ...{ level, ts: at.getTime() / MS_PER_SECOND, caller: 'stock/reserve.go:42', msg },
  })),
  dialect('logrus', (level, msg, time) => ({ level, msg, time })),
  dialect('Logback, Logstash encoder', (level, message, at) => ({
    ...{ '@timestamp': at, '@version': '1', message, logger_name: 'shop.Stock', thread_name: 'main' },
    ...{ level: level.toUpperCase(), level_value: level === 'error' ? 40_000 : 20_000 },
  })),
  dialect('Log4j', (level, message, at) => ({
    ...{ timeMillis: at.getTime(), thread: 'main', level: level.toUpperCase(), loggerName: 'shop.Stock' },
    ...{ message, endOfBatch: false, threadId: 1, threadPriority: 5 },
  })),
  dialect('Serilog, compact', (level, message, at) => ({
    ...{ '@t': at, '@m': message, '@i': 'a1b2c3d4', ...(level === 'error' && { '@l': 'Error' }) },
  })),
  dialect('structlog', (level, event, timestamp) => ({ event, level, logger: 'shop.stock', timestamp })),
  dialect('ECS', (level, message, at) => ({
    ...{ '@timestamp': at, 'log.level': level.toUpperCase(), message, 'ecs.version': '1.2.0' },
    ...{ 'service.name': 'shop', 'log.logger': 'shop.Stock' },
  })),
  dialect('OpenTelemetry', (level, message, at) => ({
    timeUnixNano: `${at.getTime()}${NANOSECONDS}`,
    severityNumber: level === 'error' ? 17 : 9,
    severityText: level.toUpperCase(),
    body: { stringValue: message },
  })),
]
