import { AppError, toAppError } from '../../../errors/app-error.js'
import {
  RegoObject,
  isArray,
  parseDataFile,
  parseDataPath,
  type DataChange,
  type RegoValue,
} from '../../../rego/index.js'

/** Only the end matters, which says how it is read. */
const FILE = 'body.json'

/** Parses a JSON document, with numbers as written. Raises `invalid`. */
export function readDocument(content: Uint8Array): RegoValue {
  if (content.length === 0) throw new AppError('invalid', 'the body is empty: send a document as JSON')
  try {
    return parseDataFile(FILE, content)
  } catch (raw) {
    const { kind, code, message } = toAppError(raw)
    throw new AppError(kind, message.replace(`${FILE}: `, ''), { code, cause: raw })
  }
}

type Operation = Omit<DataChange, 'createsParents'>

const OPERATIONS: readonly RegoValue[] = ['add', 'remove', 'replace'] satisfies DataChange['op'][]

/** Parses the operations of a JSON Patch that OPA accepts. Raises `invalid` with every problem. */
export function readPatch(content: Uint8Array): readonly Operation[] {
  const document = readDocument(content)
  if (!isArray(document)) throw wrongPatch(['the body must be an array'])
  const read = document.map((operation, place) => readOperation(operation, place))
  const problems = read.flatMap((one) => ('problem' in one ? [one.problem] : []))
  if (problems.length > 0) throw wrongPatch(problems)
  return read.flatMap((one) => ('problem' in one ? [] : [one]))
}

function readOperation(operation: RegoValue, place: number): Operation | { readonly problem: string } {
  if (!(operation instanceof RegoObject)) return { problem: `[${place}] must be an object` }
  const [op, path = '', value = null] = ['op', 'path', 'value'].map((name) => operation.get(name))
  if (!isOperation(op))
    return { problem: `[${place}]: bad patch operation: ${typeof op === 'string' ? op : ''}` }
  if (typeof path !== 'string') return { problem: `[${place}].path must be a string` }
  return { op, path: parseDataPath(path).map(unescapePointer), value }
}

function isOperation(op: RegoValue | undefined): op is DataChange['op'] {
  return op !== undefined && OPERATIONS.includes(op)
}

/** Unescapes a segment of a JSON Pointer (RFC 6901). OPA accepts percent escapes, too. */
function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

function wrongPatch(problems: readonly string[]): AppError {
  return new AppError(
    'invalid',
    `${problems.join('; ')}. Send operations such as [{"op": "add", "path": "/a", "value": 1}] with the op add, remove or replace`,
  )
}
