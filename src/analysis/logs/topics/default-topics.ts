import type { Severity, Topic } from './topic.js'

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

/** The 21 topics that the clients send when a template has none of its own. */
export const DEFAULT_TOPICS: readonly Topic[] = (['critical', 'error', 'warn'] as const).flatMap((severity) =>
  STRINGS[severity].map((string) => ({ string, severity })),
)
