/** The severities of topics. Lines without a topic have none. */
export const SEVERITIES = ['critical', 'error', 'warn', 'ignore'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A string that gives the lines that contain it a severity. */
export interface Topic {
  readonly string: string
  readonly severity: Severity
  /** Whether the template defines it, as opposed to the defaults that clients send along. */
  readonly isOwn?: boolean | undefined
}

const STRINGS: Readonly<Record<Exclude<Severity, 'ignore'>, readonly string[]>> = {
  critical: [
    'OnOutOfMemoryError',
    'StackOverflowError',
    'ClassNotFoundException',
    'FileNotFoundException',
    'ArrayIndexOutOfBounds',
    'NullPointerException',
    'StringIndexOutOfBoundsException',
    'FATAL',
    'SEVERE',
  ],
  error: [
    'NoClassDefFoundError',
    'NoSuchMethodFoundError',
    'NumberFormatException',
    'IllegalArgumentException',
    'ParseException',
    'SQLException',
    'ArithmeticException',
    'status=404',
    'status=500',
    'EXCEPTION',
    'ERROR',
  ],
  warn: ['WARN'],
}

const CRASHES: readonly (readonly [Severity, readonly string[]])[] = [
  [
    'critical',
    [
      ...['OutOfMemoryError', 'heap out of memory', 'Out of memory: Kill', 'panic: ', 'Segmentation fault'],
      ...['segfault at ', '(core dumped)', 'CRASH REPORT', 'panic serving', 'panicked at '],
      'nil pointer dereference',
    ],
  ],
  [
    'error',
    [
      'Unhandled exception',
      'Unhandled rejection',
      'UnhandledPromiseRejection',
      'Uncaught ',
      'Task timed out after',
    ],
  ],
]

/**
 * Other signs that a program has ended or is about to. The clients' own string for the first is
 * that of an option.
 */
export const CRASH_TOPICS: readonly Topic[] = CRASHES.flatMap(([severity, strings]) =>
  strings.map((string) => ({ string, severity })),
)

/** A JVM runs this command at its last error. */
const ENDS: ReadonlySet<string> = new Set([
  'onoutofmemoryerror',
  ...CRASH_TOPICS.flatMap(({ severity, string }) => (severity === 'critical' ? [string.toLowerCase()] : [])),
])

/**
 * Whether the topic means that the program ended, or is defined by the template, so that it is not
 * over.
 */
export function endsProgram(topic: Topic | undefined): boolean {
  return topic !== undefined && (topic.isOwn === true || ENDS.has(topic.string.toLowerCase()))
}

/** The 21 topics that clients send if a template has none of its own. */
export const DEFAULT_TOPICS: readonly Topic[] = (['critical', 'error', 'warn'] as const).flatMap((severity) =>
  STRINGS[severity].map((string) => ({ string, severity })),
)
