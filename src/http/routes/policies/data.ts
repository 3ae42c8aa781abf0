import { AppError, toAppError } from '../../../errors/app-error.js'
import {
  EditedData,
  RegoObject,
  editData,
  parseDataPath,
  pathText,
  refuseOwned,
  type DataChange,
  type RegoValue,
  isArray,
  parseDataFile,
} from '../../../rego/index.js'
import { MethodNotAllowed } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { Metrics, WritingQuery, changePolicies, metricsOf, storedAnswer, writtenBody } from './writing.js'
import type { RequestedChange, WritingRoutesDeps } from './writing.js'

/** Only the end matters, which says how it is read. */
const FILE = 'body.json'

/** Limits on documents that clients write: levels of a path and of a value, and operations. */
const MAX_LEVELS = 1000
const MAX_OPERATIONS = 10_000

const OPERATIONS: readonly RegoValue[] = ['add', 'remove', 'replace'] satisfies DataChange['op'][]

const ROOT = '/v1/data'
const DATA = { roles: ['admin'], handler: 'v1/data', query: WritingQuery } as const
const DONE = {
  200: json('The data changed; with `metrics`.', Metrics),
  204: { description: 'The data changed.', types: [] },
  400: { description: 'The document is malformed, is where rules are, or belongs to a bundle.' },
  403: { description: '`policies.writable` is false.' },
}
const MISSING = { description: 'There is no document at the path, or at one above it.' }

const { route } = routesOf<WritingRoutesDeps>()

/** OPA's Data API for changes of base documents, for `policies.writable`. */
export const storedDataRoutes = [
  ...withRoot((path) =>
    route({
      ...DATA,
      method: 'PUT',
      path,
      summary: 'Create or replace a base document',
      body: writtenBody('The document.', 'application/json'),
      answers: {
        ...DONE,
        304: { description: 'There is a document, and the request has `If-None-Match: *`.', types: [] },
        404: { description: 'The path leads through another value than an object.' },
      },
      answer: async ({ exchange, body: content }, deps) => {
        const onlyNew = exchange.header('if-none-match') === '*'
        const value = readDocument(content)
        const apply: Apply = ({ data, path: at }) => {
          if (onlyNew && data.valueAt(at) !== undefined) return []
          refuseConflict(data, at)
          return [{ op: 'add', path: at, value, createsParents: true }]
        }
        const isChanged = await changeData({ kind: 'data.put', content, apply }, exchange, deps)
        return onlyNew && !isChanged ? new Response(null, { status: 304 }) : changed(exchange)
      },
    }),
  ),
  ...withRoot((path) =>
    route({
      ...DATA,
      method: 'PATCH',
      path,
      summary: 'Change base documents by JSON Patch',
      body: writtenBody(
        'An array of the operations `add`, `replace` and `remove`.',
        'application/json-patch+json',
      ),
      answers: { ...DONE, 404: MISSING },
      answer: async ({ exchange, body: content }, deps) => {
        const operations = readPatch(content)
        const apply: Apply = ({ path: at }) =>
          operations.map((operation) => ({
            ...operation,
            path: [...at, ...operation.path],
            createsParents: false,
          }))
        await changeData({ kind: 'data.patched', content, apply }, exchange, deps)
        return changed(exchange)
      },
    }),
  ),
  route({
    ...DATA,
    method: 'DELETE',
    path: `${ROOT}/*`,
    summary: 'Delete a base document',
    answers: { ...DONE, 404: MISSING },
    answer: async ({ exchange }, deps) => {
      const apply: Apply = ({ path }) => [{ op: 'remove', path, value: null, createsParents: false }]
      await changeData({ kind: 'data.deleted', apply }, exchange, deps)
      return changed(exchange)
    },
  }),
]

function withRoot(row: (path: string) => Route<WritingRoutesDeps>): readonly Route<WritingRoutesDeps>[] {
  return [row(ROOT), row(`${ROOT}/*`)]
}

/** Returns the changes for the base documents at the time of the write. */
type Apply = (at: { readonly data: EditedData; readonly path: readonly string[] }) => readonly DataChange[]

/** Changes the base documents at the path of a request. Returns whether anything changed. */
async function changeData(
  { apply, ...change }: Omit<RequestedChange, 'apply' | 'target'> & { readonly apply: Apply },
  exchange: Exchange,
  deps: WritingRoutesDeps,
): Promise<boolean> {
  const path = parseDataPath(exchange.target.path.slice(ROOT.length))
  if (path.length === 0 && exchange.method === 'DELETE')
    throw new MethodNotAllowed(exchange.method, ROOT, ['GET', 'PATCH', 'POST', 'PUT'])
  return await changePolicies(
    {
      ...change,
      target: pathText(path),
      apply: (stored, { data }, written) => {
        const changes = apply({ data: new EditedData(data), path })
        for (const { path: at } of changes) {
          if (at.length > MAX_LEVELS) throw new AppError('invalid', `a path may have ${MAX_LEVELS} segments`)
          refuseOwned(at, stored)
        }
        if (changes.length === 0) return written
        return { ...written, data: editData({ data, fileData: stored.fileData }, written.data, changes) }
      },
    },
    exchange,
    deps,
  )
}

/** Raises OPA's error if the nearest value above a new document is no object. */
function refuseConflict(data: EditedData, path: readonly string[]): void {
  if (path.length === 0 || data.valueAt(path) !== undefined) return
  let above = path.slice(0, -1)
  let value: RegoValue | undefined
  while ((value = data.valueAt(above)) === undefined) above = above.slice(0, -1)
  if (value instanceof RegoObject) return
  throw new AppError('not_found', `storage_write_conflict_error: ${pathText(above)}`, {
    code: 'resource_conflict',
  })
}

function changed(exchange: Exchange): Response {
  const metrics = metricsOf(exchange)
  return metrics === undefined ? new Response(null, { status: 204 }) : storedAnswer(exchange, metrics)
}

/** Parses a JSON document, with numbers as written. Raises `invalid`. */
function readDocument(content: Uint8Array): RegoValue {
  if (content.length === 0) throw new AppError('invalid', 'the body is empty: send a document as JSON')
  try {
    return parseDataFile(FILE, content, MAX_LEVELS)
  } catch (raw) {
    const { kind, code, message } = toAppError(raw)
    throw new AppError(kind, message.replace(`${FILE}: `, ''), { code, cause: raw })
  }
}

type Operation = Omit<DataChange, 'createsParents'>

/** Parses the operations of a JSON Patch that OPA accepts. Raises `invalid` with every problem. */
function readPatch(content: Uint8Array): readonly Operation[] {
  const document = readDocument(content)
  if (!isArray(document)) throw wrongPatch(['the body must be an array'])
  if (document.length > MAX_OPERATIONS)
    throw new AppError('too_large', `a patch may have ${MAX_OPERATIONS} operations: send several`)
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
