import { z } from 'zod'

import { AppError, toAppError } from '../../../errors/app-error.js'
import {
  deleteModule,
  findModule,
  packagePath,
  parseDataPath,
  putModule,
  refuseOwned,
  syntaxTrees,
  type StoredModule,
} from '../../../rego/index.js'
import { MethodNotAllowed } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import {
  Metrics,
  WritingQuery,
  changePolicies,
  metricsOf,
  storedAnswer,
  storedPolicies,
  writtenBody,
} from './writing.js'
import type { WritingRoutesDeps } from './writing.js'

const PATH = '/v1/policies'
const ANY = `${PATH}/*`
const POLICIES = { roles: ['admin'], handler: 'v1/policies', query: WritingQuery } as const
const Policy = z.object({
  id: z.string(),
  raw: z.string().describe('The Rego.'),
  ast: z.unknown().optional().describe('The syntax tree, as `opa parse` prints it.'),
})
const NOT_WRITABLE = { description: '`policies.writable` is false.' }
const UNKNOWN = { description: 'There is no policy with this id.' }

const { route } = routesOf<WritingRoutesDeps>()

/** OPA's Policy API, for `policies.writable`. */
export const storedPolicyRoutes = [
  route({
    ...POLICIES,
    method: 'GET',
    path: PATH,
    summary: 'List the policies with their Rego',
    answers: { 200: json('The policies.', z.object({ result: z.array(Policy) })), 403: NOT_WRITABLE },
    answer: async ({ exchange }, deps) => {
      const policies = await printPolicies(storedPolicies(deps).modules, deps)
      return storedAnswer(exchange, `{"result":[${policies.join(',')}]}`)
    },
  }),
  route({
    ...POLICIES,
    method: 'PUT',
    path: ANY,
    summary: 'Create or replace a policy',
    body: writtenBody('The Rego.', 'text/plain'),
    answers: {
      200: json('The policy decides.', Metrics),
      400: { description: 'The policies do not compile with it, or a bundle owns its package.' },
      403: NOT_WRITABLE,
    },
    answer: async ({ exchange, body: content }, deps) => {
      const id = idOf(exchange)
      const text = Buffer.from(content).toString()
      if (text.trim() === '') throw new AppError('invalid', `${id}:0: rego_parse_error: empty module`)
      await changePolicies(
        {
          kind: 'policy.put',
          target: id,
          content,
          apply: (stored, _, written) => {
            if (written.modules.get(id) === text) return written
            const known = stored.modules.find((module) => module.id === id)
            for (const path of [known?.packagePath, packagePath(text)]) if (path) refuseOwned(path, stored)
            return putModule(written, id, text)
          },
        },
        exchange,
        deps,
      )
      return storedAnswer(exchange, metricsOf(exchange) ?? '{}')
    },
  }),
  route({
    ...POLICIES,
    method: 'GET',
    path: ANY,
    summary: 'A policy with its Rego',
    answers: { 200: json('The policy.', z.object({ result: Policy })), 403: NOT_WRITABLE, 404: UNKNOWN },
    answer: async ({ exchange }, deps) => {
      const policies = await printPolicies([findModule(storedPolicies(deps), idOf(exchange))], deps)
      return storedAnswer(exchange, `{"result":${policies.join('')}}`)
    },
  }),
  route({
    ...POLICIES,
    method: 'DELETE',
    path: ANY,
    summary: 'Delete a policy',
    answers: {
      200: json('The policy no longer decides.', Metrics),
      400: { description: 'The policies do not compile without it, or a bundle owns its package.' },
      403: NOT_WRITABLE,
      404: UNKNOWN,
    },
    answer: async ({ exchange }, deps) => {
      const id = idOf(exchange)
      await changePolicies(
        {
          kind: 'policy.deleted',
          target: id,
          apply: (stored, _, written) => {
            refuseOwned(findModule(stored, id).packagePath, stored)
            return deleteModule(written, id, stored)
          },
        },
        exchange,
        deps,
      ).catch((raw: unknown) => {
        throw withDeleteCode(raw)
      })
      return storedAnswer(exchange, metricsOf(exchange) ?? '{}')
    },
  }),
]

/** Slashes are part of ids, escaped or not. Raises `method_not_allowed` without an id. */
function idOf({ method, target }: Exchange): string {
  const id = parseDataPath(target.path.slice(PATH.length)).join('/')
  if (id === '') throw new MethodNotAllowed(method, PATH, ['GET', 'HEAD'])
  return id
}

/** A policy that others need cannot be deleted. OPA has a code of its own for this. */
function withDeleteCode(raw: unknown): AppError {
  const error = toAppError(raw)
  const { kind, message, details } = error
  if (kind !== 'invalid' || details.length === 0) return error
  return new AppError(kind, message, { code: 'invalid_operation', details, cause: error })
}

async function printPolicies(
  modules: readonly StoredModule[],
  { findOpa }: WritingRoutesDeps,
): Promise<string[]> {
  const trees = modules.length === 0 ? [] : await syntaxTrees(await findOpa(), modules)
  return modules.map(({ id, text }, place) => {
    const tree = trees[place]
    const members = [
      `"id":${JSON.stringify(id)}`,
      `"raw":${JSON.stringify(text)}`,
      ...(tree === undefined ? [] : [`"ast":${tree}`]),
    ]
    return `{${members.join(',')}}`
  })
}
