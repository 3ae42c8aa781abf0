/** The kind of trace that the event is in. Some contain lines that look like new events. */
export type TraceState = 'none' | 'python' | 'pythonEnded' | 'go' | 'rust'

/** Beginnings of frames, causes and the ends of traces without their indentation. */
const TRACE_LINE =
  /^(?:Caused by: |Suppressed: |\.\.\. \d+ (?:more|common frames)|at [\w$.<>/]+\(.*\)$|at .+:\d+:\d+\)?$|--- End of |[)\]}]+[,;]?$)/
/** The first line of a trace of Python. */
export const PYTHON_BEGINNING = 'Traceback (most recent call last)'
const PYTHON_CHAIN = /^(?:During handling of the above exception|The above exception was the direct cause)/
const PYTHON_END = /^[A-Za-z_][\w.]*(?::|$)/
/**
 * Frames of Ruby (`shop.rb:12:in 'buy'` at the end of the line) and of PHP (`#0 /srv/shop.php(12):
 * buy()`), and the lines above them.
 */
const SCRIPT_LINE =
  /^(?:(?:from )?[^\s:]+:\d+:in [`'][^']*'$|#\d+ (?:\S+\(\d+\): |\[internal function\]|\{main\})|Stack trace:$|\[(?:previous )?stacktrace\]$)/
/**
 * `thread 'main' panicked at src/main.rs:5:5:` has its message on the next line; older versions
 * have it on the same line.
 */
const RUST_BEGINNING = /^thread '[^']*'(?: \(\d+\))? panicked at /
const RUST_LINE = /^(?:stack backtrace:$|note: (?:run with|Some details are omitted))/
const GO_BEGINNING = /^goroutine \d+ \[/
const GO_PANIC = /^(?:panic|fatal error): /
const GO_LINE = /^(?:[\w./*()-]+\(.*\)|created by .*|exit status \d+)$/
/** An exception on a line of its own, as loggers put it below their message. */
const EXCEPTION_HEAD = /^(?:[a-z_$][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)(?:: |$)/
/** The first field of an entry in the export of systemd's journal, which has one field per line. */
export const JOURNAL_BEGINNING = '__CURSOR='
const JOURNAL_FIELD = /^(?!__CURSOR=)[A-Z_][A-Z\d_]*=/
/** Number of characters of a line that are examined. */
const MAX_LOOKED_AT = 1000
/** A frame of Java, JavaScript, .NET or Ruby without its indentation. */
const FRAME = /^(?:at|from) \S/
/** Signs of a trace within a JSON record. */
const OWN_TRACE = /\\n|"(?:stack|stack_?trace|exc_?info|traceback|backtrace)"/i
const COMPLAINT = /error|warn|fail|fatal|severe|exception|panic|critical/i

/** The event that a line may belong to. */
export interface EventSoFar {
  /** Its lines. */
  readonly kept: readonly string[]
  readonly state: TraceState
  /**
   * Whether the line came so late that it belongs to the event only if it cannot be an event of its
   * own.
   */
  readonly isLongAgo: boolean
}

/**
 * The kind of trace that the event is in if this line continues it. Undefined if the line begins
 * another event.
 */
export function continuationOf(
  whole: string,
  { kept, state, isLongAgo }: EventSoFar,
): TraceState | undefined {
  const line = whole.slice(0, MAX_LOOKED_AT)
  const [head = ''] = kept
  if (line.trim() === '') return state
  if (line.startsWith('Traceback (most recent call last)'))
    return !isLongAgo && beginsPython(kept, state) ? 'python' : undefined
  if (PYTHON_CHAIN.test(line)) return state === 'pythonEnded' ? 'python' : undefined
  if (GO_BEGINNING.test(line)) return state === 'go' || GO_PANIC.test(head) ? 'go' : undefined
  if (line.startsWith('[signal ')) return GO_PANIC.test(head) ? state : undefined
  if (isIndented(line)) return indentOf(line) > indentOf(head) ? state : undefined
  if (head.startsWith(JOURNAL_BEGINNING)) return JOURNAL_FIELD.test(line) ? state : undefined
  if (TRACE_LINE.test(line) || SCRIPT_LINE.test(line)) return state
  if (state === 'python') return PYTHON_END.test(line) ? 'pythonEnded' : undefined
  if (state === 'go') return GO_LINE.test(line) ? state : undefined
  if (state === 'rust') return RUST_LINE.test(line) || isPanicMessage(kept) ? state : undefined
  return !isLongAgo && isHeadBelowMessage(line, kept) ? state : undefined
}

/** The kind of trace that an event is in after its first line. */
export function stateAfterHead(line: string): TraceState {
  if (line.startsWith('Traceback (most recent call last)')) return 'python'
  if (RUST_BEGINNING.test(line)) return 'rust'
  return GO_BEGINNING.test(line) ? 'go' : 'none'
}

/** After a message that complains, or after the sentence that chains one trace to the next. */
function beginsPython(kept: readonly string[], state: TraceState): boolean {
  const [head = '', ...others] = kept
  if (state !== 'none') return state === 'python'
  // An event that has a trace already is complete: the next trace is another event.
  if (others.some((line) => isTraceLine(line)) || hasOwnTrace(head)) return false
  return COMPLAINT.test(head.slice(0, MAX_LOOKED_AT))
}

function isTraceLine(whole: string): boolean {
  const line = whole.slice(0, MAX_LOOKED_AT).trim()
  return FRAME.test(line) || TRACE_LINE.test(line) || SCRIPT_LINE.test(line) || EXCEPTION_HEAD.test(line)
}

/** Whether a single line, in JSON or a record as text, contains its trace. */
function hasOwnTrace(head: string): boolean {
  return head.includes('\n') || (head.startsWith('{') && OWN_TRACE.test(head))
}

function isPanicMessage(kept: readonly string[]): boolean {
  return kept.length === 1 && kept[0]?.endsWith(':') === true
}

function isIndented(line: string): boolean {
  return line.startsWith(' ') || line.startsWith('\t')
}

/** Number of blanks and tabs at the start. */
function indentOf(line: string): number {
  return /^[ \t]*/.exec(line)?.[0].length ?? 0
}

function isHeadBelowMessage(line: string, kept: readonly string[]): boolean {
  const [head = ''] = kept
  return (
    kept.length === 1 &&
    EXCEPTION_HEAD.test(line) &&
    !EXCEPTION_HEAD.test(head) &&
    !hasOwnTrace(head) &&
    COMPLAINT.test(head.slice(0, MAX_LOOKED_AT))
  )
}
