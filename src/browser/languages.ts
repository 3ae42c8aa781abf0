import { StreamLanguage } from '@codemirror/language'
import type { StreamParser, StringStream } from '@codemirror/language'

/** Text that continues on the next line: a raw string of Rego. */
interface LineState {
  isRaw: boolean
}

const REGO_WORDS = new Set(
  'as contains default else every false if import in not null package some true with'.split(' '),
)
const REGO_ATOMS = new Set(['true', 'false', 'null'])

const rego: StreamParser<LineState> = {
  startState: () => ({ isRaw: false }),
  token: (stream, state) => {
    if (state.isRaw || stream.match('`') !== null) return rawString(stream, state)
    if (stream.eatSpace()) return null
    if (stream.match(/^#.*/) !== null) return 'comment'
    if (stream.match(/^\$?"(?:\\.|[^"\\])*"?/) !== null) return 'string'
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/) !== null) return 'number'
    if (stream.match(/^[A-Za-z_]\w*/) !== null) return wordOf(stream)
    if (stream.match(/^(?::=|==|!=|<=|>=|[-+*/%&|<>=])/) !== null) return 'operator'
    stream.next()
    return null
  },
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
}

function rawString(stream: StringStream, state: LineState): string {
  state.isRaw = !stream.skipTo('`')
  if (state.isRaw) stream.skipToEnd()
  else stream.next()
  return 'string'
}

function wordOf(stream: StringStream): string {
  const word = stream.current()
  if (REGO_ATOMS.has(word)) return 'atom'
  if (REGO_WORDS.has(word)) return 'keyword'
  return word === 'input' || word === 'data' ? 'variableName.special' : 'variableName'
}

/** JSON, and YAML as far as documents of analyses use it. */
const data: StreamParser<null> = {
  startState: () => null,
  token: (stream) => {
    if (stream.eatSpace()) return null
    if (stream.match(/^#.*/) !== null) return 'comment'
    if (stream.match(/^(?:"(?:\\.|[^"\\])*"?|'(?:''|[^'])*'?)/) !== null)
      return stream.match(/^\s*:/, false) === null ? 'string' : 'propertyName'
    if (stream.match(/^[A-Za-z_][\w.-]*(?=\s*:(?:\s|$))/) !== null) return 'propertyName'
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.-])/) !== null) return 'number'
    if (stream.match(/^(?:true|false|null)\b/) !== null) return 'atom'
    if (stream.match(/^[^\s"'#,:[\]{}]+/) !== null) return 'string'
    stream.next()
    return null
  },
}

/** Highlighting by the value of `data-language`. */
export const LANGUAGES: Readonly<Record<string, StreamLanguage<unknown>>> = {
  rego: StreamLanguage.define(rego),
  json: StreamLanguage.define(data),
  yaml: StreamLanguage.define(data),
}
