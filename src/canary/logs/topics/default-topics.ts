/** How bad a line is; lines that no topic names are none of these. */
export const SEVERITIES = ['critical', 'error', 'warn', 'ignore'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A text that tells the severity of the lines it stands in. */
export interface Topic {
  readonly string: string
  readonly severity: Severity
  /** Whether people said so, and not the defaults that clients send along. */
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

/** What else says that a program has ended, or is about to; the text that the clients have for the first is that of an option. */
export const CRASH_TOPICS: readonly Topic[] = CRASHES.flatMap(([severity, strings]) =>
  strings.map((string) => ({ string, severity })),
)

/** What a JVM runs at its last error says so, too. */
const ENDS: ReadonlySet<string> = new Set([
  'onoutofmemoryerror',
  ...CRASH_TOPICS.flatMap(({ severity, string }) => (severity === 'critical' ? [string.toLowerCase()] : [])),
])

/** Whether what a topic finds has ended the program, or people waited for it, so that it is not over. */
export function endsProgram(topic: Topic | undefined): boolean {
  return topic !== undefined && (topic.isOwn === true || ENDS.has(topic.string.toLowerCase()))
}

/** The 21 topics that the clients send when a template has none of its own. */
export const DEFAULT_TOPICS: readonly Topic[] = (['critical', 'error', 'warn'] as const).flatMap((severity) =>
  STRINGS[severity].map((string) => ({ string, severity })),
)
