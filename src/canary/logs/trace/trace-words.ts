import type { ScannedLine } from '../masking/scan-words.js'
import { PYTHON_BEGINNING } from './continuation.js'

const TYPE =
  /(?:^|[\s:;,([=])((?:[A-Za-z_][\w$]*(?:\.|\\|::))*[A-Z][\w$]*(?:Exception|Error|Throwable|Warning|Interrupt|Exit|Fault))(?=[\s:;,)\]]|$)/
/** Number of characters within which the type of an exception is searched. */
const MAX_TYPE_WITHIN = 1000
/** Ruby writes the location, the message and the type of the exception in one line. */
const RUBY_HEAD = /^[^\s:]+:\d+:in [`'][^']+': /
const PANIC = /^panic:|^fatal error:|panicked at/m
/** `QuerySet$$Lambda$14/0x00` and `<lambda_7>`: these numbers differ between starts. */
const NUMBERED = /(?<=\$\$?)\w*\d\w*(?:\/0x[0-9a-f]+)?|(?<=lambda_?)\d+/g

/**
 * The words of a stack trace: the type of its exception and the first frame of the program's own
 * code, without line numbers. Two traces with equal words are one event whatever their messages
 * are. Undefined if the event is not a trace.
 */
export function traceWords(event: string): ScannedLine | undefined {
  if (!event.includes('\n')) return undefined
  const lines = event.split('\n')
  const frames = lines.map(frameName).filter((name) => name !== undefined)
  const type = typeOf(event, lines)
  if (frames.length === 0 || type === undefined) return undefined
  // Python writes the innermost call last, all others first.
  const inner = event.includes(PYTHON_BEGINNING) ? frames.toReversed() : frames
  const frame = inner.find(isOwnFrame) ?? inner[0] ?? ''
  return { words: [type, 'at', frame.replaceAll(NUMBERED, '*')], gaps: [0, 1, 1] }
}

function typeOf(event: string, lines: readonly string[]): string | undefined {
  const python = lines.findIndex((line) => line.startsWith(PYTHON_BEGINNING))
  const searched = python < 0 ? lines : lines.slice(python).toReversed()
  for (const line of searched) {
    const isHead = frameName(line) === undefined || RUBY_HEAD.test(line)
    const type = isHead ? TYPE.exec(line.slice(0, MAX_TYPE_WITHIN))?.[1] : undefined
    if (type !== undefined) return type
  }
  return PANIC.test(event) ? 'panic' : undefined
}

/** How the frames of a trace are written, the name of the function in the first group. */
const FRAMES: readonly RegExp[] = [
  // JavaScript: `at Shop.buy (/srv/shop.js:12:3)`, `at async buy (…)`, `at /srv/shop.js:12:3`
  /^\s*at (?:async )?(.+? \(.+?):\d+:\d+\)$/,
  /^\s*at (?:async )?([^\s()]+?):\d+:\d+$/,
  // Java and other languages of its machine, .NET: `at com.example.Shop.buy(Shop.java:12)`
  /^\s*at ([\w$.<>/`[\], ]+)\(.*\)/,
  // Python: `File "/srv/shop.py", line 12, in buy`
  /^\s*File "([^"]+", line \d+, in \S+)/,
  // Ruby: `from /srv/shop.rb:12:in 'Shop#buy'`
  /^\s*(?:from )?([^\s:]+:\d+:in [`'][^']+)'/,
  // PHP: `#0 /srv/shop.php(12): Shop->buy(17)`
  /^#\d+ \S+\(\d+\): ([\w\\$:>{}-]+)\(/,
  // Rust: ` 3: shop::orders::place`, in some builds with a hash at the end
  /^\s+\d+: (?:0x[\da-f]+ - )?(\S.*?)(?:::h[\da-f]{16})?$/,
  // Go: `main.(*Shop).Buy(0xc000010, 0x3)`
  /^([\w./-]+\.(?:\(\*?\w+\)\.)?[\w.]+)\(.*\)$/,
]

/** Longer lines are data; some of the patterns above would take long for them. */
const MAX_FRAME_CHARACTERS = 1000

/** Code outside of the program: runtimes and common libraries. */
const FOREIGN =
  /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|scala|groovy|clojure|org\.(?:springframework|apache|hibernate|eclipse|jboss|junit|slf4j)|io\.(?:netty|grpc|vertx)|reactor|rx|akka|okhttp3|com\.(?:google|fasterxml|mysql)|System|Microsoft|runtime|net\/http|reflect|syscall|testing)[./]|node:|(?:^|\s)internal\/|node_modules|(?:site|dist)-packages|\/usr\/lib|<frozen|\/gems\/|\/rustc\/|(?:^|<)(?:std|core|alloc|tokio)::|rust_begin_unwind|__rust/

/**
 * The function in one line of a trace, and its file if the language shows it, without the position
 * in the file.
 */
function frameName(line: string): string | undefined {
  if (line.length > MAX_FRAME_CHARACTERS) return undefined
  for (const frame of FRAMES) {
    const name = frame.exec(line)?.[1]
    if (name !== undefined) return name.replace(/", line \d+, in | \(|:\d+:in [`']/, ' ').trim()
  }
  return undefined
}

/** Whether a frame is code of the program itself. */
function isOwnFrame(name: string): boolean {
  return !FOREIGN.test(name)
}
