import { createHash } from 'node:crypto'
import { z } from 'zod'

import { findTemplate, saveTemplate } from '../../../analysis/runs/template-operations.js'
import { checkTemplate } from '../../../analysis/runs/plan-run.js'
import type { AppError } from '../../../errors/app-error.js'
import type { StoredTemplate } from '../../../store/ports/analysis-store.js'
import { actorOf } from '../../exchange/caller-of.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { documentBody } from '../../input/body-reader.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'

const TemplateQuery = z.looseObject({
  sha1: z
    .string()
    .regex(/^[0-9a-f]{40}$/i)
    .toLowerCase()
    .optional(),
  templateType: z
    .string()
    .toUpperCase()
    .pipe(z.enum(['LOG', 'METRIC'])),
  templateName: z.string().min(1).max(200),
})

type SentTemplate = Pick<StoredTemplate, 'type' | 'name' | 'body'>

const RefusedTemplate = z.looseObject({
  error: z.literal('invalid template'),
  errorMessage: z.array(z.string()),
})
const COMMON = {
  path: '/autopilot/api/v5/external/template',
  roles: ['orchestrator'],
  handler: 'autopilot',
  isPolled: true,
  query: TemplateQuery,
} as const
const { route } = routesOf<AnalysisRoutesDeps>()

/** `/autopilot/api/v5/external/template`, the templates of the GitOps client. */
export const templateRoutes = [
  route({
    ...COMMON,
    method: 'GET',
    summary: 'Whether a template exists',
    answers: { 200: json('Whether it exists.', z.boolean()) },
    answer: async ({ query: { templateType, templateName, sha1 } }, { reader }) => {
      const found = await reader.run(findTemplate, { type: templateType, name: templateName, sha1 })
      return jsonAnswer(found !== undefined)
    },
  }),
  route({
    ...COMMON,
    method: 'POST',
    summary: 'Store a template',
    body: documentBody('the template'),
    answers: {
      201: json('The template is stored.', z.object({ status: z.literal('CREATED'), sha1: z.string() })),
      400: json('The problems of the template.', RefusedTemplate),
      413: json('The template is too large.', RefusedTemplate),
    },
    answer: async ({ exchange, query: { templateType, templateName }, body }, deps) => {
      const template = { type: templateType, name: templateName, body: body.text }
      return jsonAnswer({ status: 'CREATED', sha1: await keepTemplate(exchange, template, deps) }, 201)
    },
    failed: (failure) => answerRefusedTemplate(failure),
  }),
]

/** Stores a template and returns its SHA-1. Raises `invalid` for a malformed template. */
export async function keepTemplate(
  exchange: Exchange,
  { type, name, body }: SentTemplate,
  deps: AnalysisRoutesDeps,
): Promise<string> {
  await deps.reader.run(checkTemplate, { type, body })
  const sha1 = createHash('sha1').update(body).digest('hex')
  await deps.writer.run(saveTemplate, {
    template: { type, name, sha1, body, createdMs: deps.now() },
    // The Argo job sends each version and reads it back by SHA-1, so it need not replace the
    // version that others find by name.
    mayReplace: exchange.caller.isAdmin,
    actor: actorOf(exchange, deps),
  })
  return sha1
}

/** The client ignores the status and reads `errorMessage`. */
function answerRefusedTemplate(failure: AppError): Response {
  const { code, message, kind } = failure
  if (kind !== 'invalid' && kind !== 'too_large') throw failure
  const { status } = errorAnswer(failure)
  return jsonAnswer({ code, message, error: 'invalid template', errorMessage: [message] }, status)
}
