import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { parseGoUrl } from './encoding/go-url.js'
import { passes } from './shared/builtin.js'
import type { BuiltinTable } from './shared/builtin.js'
import { operand, stringOperand } from './shared/operands.js'

type Args = readonly RegoValue[]

/** URIs as OPA 1.16 takes them apart. */
export const uriBuiltins: BuiltinTable = {
  'uri.is_valid': isValid,
  'uri.parse': parse,
}

const PORT = /:(?<port>\d*)$/
const BRACKETS = /^\[(?<inside>.*)\]$/s

/** The parts that a URI has; `raw_path` is there with every path. */
function parse(args: Args): RegoValue {
  const { scheme, host, path, rawPath, query, fragment } = parseGoUrl(stringOperand(args, 0))
  const port = PORT.exec(host)?.groups?.['port'] ?? ''
  const name = host.replace(PORT, '')
  const parts = {
    scheme,
    hostname: BRACKETS.exec(name)?.groups?.['inside'] ?? name,
    port,
    path,
    raw_path: rawPath === '' ? path : rawPath,
    raw_query: query,
    fragment,
  }
  return new RegoObject(Object.entries(parts).filter(([, text]) => text !== ''))
}

/** An empty text is a reference to a place of its own, but no URI that a policy would want. */
function isValid(args: Args): RegoValue {
  const text = operand(args, 0)
  if (typeof text !== 'string' || text === '') return false
  return passes(() => {
    parseGoUrl(text)
  })
}
