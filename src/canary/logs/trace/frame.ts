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
  // Rust: `   3: shop::orders::place`, with a hash at the end in some builds
  /^\s+\d+: (?:0x[\da-f]+ - )?(\S.*?)(?:::h[\da-f]{16})?$/,
  // Go: `main.(*Shop).Buy(0xc000010, 0x3)`
  /^([\w./-]+\.(?:\(\*?\w+\)\.)?[\w.]+)\(.*\)$/,
]

/** Longer lines are data; some of the patterns above would take long for them. */
const MAX_FRAME_CHARACTERS = 1000

/** Code that is not the program's own: run times and the libraries that nearly every trace goes through. */
const FOREIGN =
  /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|scala|groovy|clojure|org\.(?:springframework|apache|hibernate|eclipse|jboss|junit|slf4j)|io\.(?:netty|grpc|vertx)|reactor|rx|akka|okhttp3|com\.(?:google|fasterxml|mysql)|System|Microsoft|runtime|net\/http|reflect|syscall|testing)[./]|node:|(?:^|\s)internal\/|node_modules|(?:site|dist)-packages|\/usr\/lib|<frozen|\/gems\/|\/rustc\/|(?:^|<)(?:std|core|alloc|tokio)::|rust_begin_unwind|__rust/

/** The function, and its file where the language says it, of one line of a trace, without the place in the file. */
export function frameName(line: string): string | undefined {
  if (line.length > MAX_FRAME_CHARACTERS) return undefined
  for (const frame of FRAMES) {
    const name = frame.exec(line)?.[1]
    if (name !== undefined) return name.replace(/", line \d+, in | \(|:\d+:in [`']/, ' ').trim()
  }
  return undefined
}

/** Whether a frame is code of the program itself. */
export function isOwnFrame(name: string): boolean {
  return !FOREIGN.test(name)
}
