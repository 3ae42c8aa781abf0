import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'

import { openApiDocument } from '../../../src/http/openapi/openapi-document.js'
import { pathTemplate } from '../../../src/http/openapi/parameters.js'
import { routesTable } from '../../../src/cli/openapi.js'
import { guardRoutes } from '../../../src/http/pipeline/guarded-routes.js'
import { mountRoutes } from '../../../src/http/web-application.js'
import { routeLists } from '../../../src/http/route-lists.js'
import { openApiOperations } from '../../support/openapi/operations.js'
import { PROJECT_ROOT } from '../../support/project-root.js'
import { servedRoutes, unansweredRoutes } from '../../support/served-routes.js'

const LISTS = routeLists({ eventsAtRoot: false })
const document = openApiDocument(LISTS, { version: '1.2.3', publicUrl: 'https://tidegate.example.org/base/' })
const operations = openApiOperations(document)

describe('the OpenAPI document', () => {
  it.each([true, false])('is one, with events at the root: %s', async (eventsAtRoot) => {
    const made = openApiDocument(routeLists({ eventsAtRoot }), { version: '1.2.3' })
    const text = JSON.parse(JSON.stringify(made)) as Record<string, unknown>
    expect(await new Validator().validate(text)).toEqual({ valid: true })
  })

  it('holds every row of the lists, and every row is served', () => {
    const described = operations.map(({ method, path }) => `${method} ${path}`)
    const app = mountRoutes(guardRoutes(unansweredRoutes(), { requests: () => Promise.resolve() }))
    const served = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${pathTemplate(path)}`)
    expect(described.sort()).toEqual(served.sort())
    expect(described).toHaveLength(servedRoutes().length)
  })

  it('names each operation once, and all parameters of its path', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { path, operation } of operations) {
      const named = operation.parameters.filter((each) => each.in === 'path').map(({ name }) => name)
      expect(named.sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort())
    }
  })

  it.each([
    ['GET', '/audit', ['auditor', 'admin'], [{ bearer: ['auditor'] }, { bearer: ['admin'] }]],
    ['POST', '/approvalGates', ['admin'], [{ bearer: ['admin'] }]],
    ['GET', '/health', ['anyone'], []],
    ['POST', '/webhooks/webhook/gitlab', [], [{ gitlabToken: [] }]],
  ])('says whom %s %s is for', (method, path, roles, security) => {
    const found = operations.find((each) => each.method === method && each.path === path)
    expect(found?.operation['x-roles']).toEqual(roles)
    expect(found?.operation.security).toEqual(security)
  })

  it('says which headers an answer has, and from where on numbers in paths count', () => {
    const find = (id: string) => operations.find(({ operation }) => operation.operationId === id)?.operation
    const created = find('postApprovalGates')?.responses['201'] as { headers: unknown }
    expect(created.headers).toEqual({
      Location: { description: 'Where the gate is.', schema: { type: 'string' } },
    })
    expect(find('getApprovalGates')?.responses['200']).not.toHaveProperty('headers')
    const number = find('getApprovalGatesById')?.parameters.find(({ name }) => name === 'id')
    expect(number).toMatchObject({ schema: { type: 'integer', minimum: 1 } })
  })

  it('says what a query takes, and what a body holds', () => {
    const find = (id: string) => operations.find(({ operation }) => operation.operationId === id)?.operation
    expect(find('getAudit')?.parameters).toContainEqual({
      name: 'limit',
      in: 'query',
      description: 'Maximum entries of the page.',
      schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
    })
    expect(find('postApprovalGates')?.requestBody).toMatchObject({
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string', description: 'Display name of the gate.' } },
          },
        },
      },
    })
  })

  it.each([
    ['taken', 'clients may present a certificate', true],
    ['required', 'every client must present a certificate', true],
    ['none', 'no client certificates', false],
  ] as const)(
    'says how a service speaks TLS whose callers have certificates: %s',
    async (certificates, text, isScheme) => {
      const tls = { minVersion: '1.3', certificates }
      const made = JSON.parse(JSON.stringify(openApiDocument(LISTS, { version: '1.2.3', tls }))) as Record<
        string,
        unknown
      >
      expect(await new Validator().validate(structuredClone(made))).toEqual({ valid: true })
      expect(made).toMatchObject({
        servers: [{ url: '/', description: expect.stringContaining(`TLS 1.3 or newer: ${text}`) as string }],
      })
      const { securitySchemes } = made['components'] as { securitySchemes: Record<string, object> }
      expect(securitySchemes['certificate']).toEqual(
        isScheme ? expect.objectContaining({ type: 'mutualTLS' }) : undefined,
      )
      const asked = openApiOperations(made).map(({ operation }) => operation)
      for (const { security, operationId } of asked) {
        const roles = (scheme: string) => security.flatMap((each) => each[scheme] ?? [])
        expect({ operationId, roles: roles('certificate') }).toEqual({
          operationId,
          roles: isScheme ? roles('bearer') : [],
        })
      }
    },
  )

  it('knows every scheme that an operation names', () => {
    const { components } = document as { components: { securitySchemes: object } }
    const named = operations.flatMap(({ operation }) =>
      operation.security.flatMap((each) => Object.keys(each)),
    )
    expect(Object.keys(components.securitySchemes).sort()).toEqual([...new Set(named)].sort())
  })

  it('names the service where it is known', () => {
    expect(document).toMatchObject({
      info: { version: '1.2.3' },
      servers: [{ url: 'https://tidegate.example.org/base' }],
    })
  })
})

it('is listed in docs/reference/routes.md with its roles', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/reference/routes.md'), 'utf8')
  // `tidegate openapi --table` prints it.
  expect(page).toContain(routesTable(LISTS))
})
