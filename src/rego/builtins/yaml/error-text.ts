import type { YAMLError } from 'yaml'

/** Go's scanner counts lines from one, its parser from zero; both leave a zero out. */
type Finder = 'scanner' | 'parser'

/** Go yaml's words by what the library says of the same mistake. */
const PROBLEMS: readonly (readonly [message: RegExp, finder: Finder, problem: string])[] = [
  [/^Nested mappings/, 'scanner', 'mapping values are not allowed in this context'],
  [/^Missing closing ['"]quote/, 'scanner', 'found unexpected end of stream'],
  [/end with a \]/, 'parser', "did not find expected ',' or ']'"],
  [/end with a \}/, 'parser', "did not find expected ',' or '}'"],
  [
    /^(?:Tabs are not allowed|Plain value cannot start)/,
    'scanner',
    'found character that cannot start any token',
  ],
  [
    /^(?:Alias|Anchor) cannot be an empty/,
    'scanner',
    'did not find expected alphabetic or numeric character',
  ],
  [/^Implicit map keys need/, 'scanner', "could not find expected ':'"],
  [/^Invalid escape sequence/, 'scanner', 'found unknown escape character'],
  [/block-seq-ind on same line/, 'scanner', 'block sequence entries are not allowed in this context'],
  [/flow-(?:map|seq)-end token|^Unexpected , in flow/, 'parser', 'did not find expected node content'],
  [/^All mapping items must start|^Unexpected /, 'parser', 'did not find expected key'],
]

/** Go yaml's text for a mistake that the library found, as far as the two tell mistakes apart alike. */
export function yamlErrorText(error: YAMLError, text: string): string {
  const end = text.trimEnd()
  const isAtEnd = error.pos[0] >= end.length
  const place =
    error.code === 'BLOCK_AS_IMPLICIT_KEY' ? valueIndicatorAfter(text, error.pos[0]) : error.pos[0]
  const row = text.slice(0, isAtEnd ? end.length : place).split('\n').length - (isAtEnd ? 0 : 1)
  const [, finder, problem] = PROBLEMS.find(([message]) => message.test(error.message)) ?? [
    undefined,
    'parser',
    error.message.split('\n', 1)[0] ?? error.message,
  ]
  const line = finder === 'scanner' && !isAtEnd && row > 0 ? row + 1 : row
  const isUnnumbered = finder === 'scanner' && isAtEnd && line === 1
  return line === 0 || isUnnumbered ? `yaml: ${problem}` : `yaml: line ${line}: ${problem}`
}

/** The library marks where the misplaced mapping begins, Go its colon. */
function valueIndicatorAfter(text: string, start: number): number {
  return Math.max(start, text.indexOf(':', start))
}

const DIRECTIVE = /^(?:[ \t]*(?:#.*)?\n)*%(\S*)[ \t]*(\S*)/
// Of the control characters YAML takes only tab, line feed, carriage return and U+0085.
const CONTROL = /(?![\t\n\r\u0085])\p{Cc}/u

/** The text for what Go yaml refuses though the library takes it, or undefined. */
export function strictnessProblem(text: string): string | undefined {
  if (CONTROL.test(text)) return 'yaml: control characters are not allowed'
  const [, name, version] = DIRECTIVE.exec(text) ?? []
  if (name === undefined || name === 'TAG') return undefined
  if (name === '') return 'yaml: could not find expected directive name'
  if (!/^[\w-]+$/.test(name)) return 'yaml: found unexpected non-alphabetical character'
  if (name !== 'YAML') return 'yaml: found unknown directive name'
  return version === '1.1' ? undefined : 'yaml: found incompatible YAML document'
}
