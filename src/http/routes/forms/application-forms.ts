import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { applicationKey } from '../../../events/registry/registry-change.js'
import { readRegistryPage } from '../../../events/registry/registry-operations.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { numberOf, textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { FormRoutesDeps } from './form-routes-deps.js'

/** Maximum pipelines in a form. */
const MAX_PIPELINES = 5000

/**
 * Characters that would break the URL that stages build with the unescaped name. Stages skip the
 * request for pipelines without a number.
 */
const NOT_IN_URL = /[\s/?#%"<>\\^`{|}]/

const Pipeline = z.object({ pipelineName: z.string(), pipelineId: z.int() })
const Service = z.object({ serviceName: z.string(), serviceId: z.int(), pipelines: z.array(Pipeline) })
const Application = z.object({ applicationId: z.int(), name: z.string() })
const USER = { user: textOf('The signed-in user.') }
const COMMON = { method: 'GET', roles: ['orchestrator', 'auditor'], handler: 'forms' } as const
const ENABLED = { 200: json('That it is.', z.object({ isEnabled: z.literal('true') })) }
const { route } = routesOf<FormRoutesDeps>()

/**
 * Numbers of applications and pipelines, which the stage forms store in the stage (deck routes, 2d
 * and 2e).
 */
const numberRoutes = [
  route({
    ...COMMON,
    path: '/platformservice/v2/applications/name/:application',
    summary: 'The number of an application, for stage forms',
    params: { application: textOf('The name of the application.') },
    answers: { 200: json('Name and number.', Application) },
    answer: async ({ params: { application } }, { numbers }) =>
      jsonAnswer({ applicationId: await numbers.applicationId(application), name: application }),
  }),
  route({
    ...COMMON,
    path: '/platformservice/v4/applications/:id',
    summary: 'The pipelines of an application with their numbers, for stage forms',
    params: { id: numberOf('application') },
    answers: {
      200: json('The pipelines, each as a service.', Application.extend({ services: z.array(Service) })),
    },
    answer: async ({ params: { id } }, { numbers, reader }) => {
      const { application } = (await numbers.namesOf(id)) ?? {}
      if (application === undefined) throw noApplication(id)
      const pipelines = await reader.run(readRegistryPage, {
        ...{ kind: 'pipeline', applicationKey: applicationKey(application), withDeleted: false },
        limit: MAX_PIPELINES,
      })
      const named = pipelines.filter(({ name }) => !NOT_IN_URL.test(name))
      const services = named.map(({ id: pipelineId, name }) => ({
        ...{ serviceName: name, serviceId: pipelineId, pipelines: [{ pipelineName: name, pipelineId }] },
      }))
      return jsonAnswer({ applicationId: id, name: application, services })
    },
  }),
]

/**
 * Permission checks of the gateway before a form is shown (deck routes, 2). Forms are open to
 * everyone whom the gateway admits.
 */
const permissionRoutes = [
  route({
    ...COMMON,
    path: '/platformservice/v6/users/:user/features/APP',
    summary: 'Whether the gateway checks permissions on applications',
    params: USER,
    answers: ENABLED,
    answer: () => jsonAnswer({ isEnabled: 'true' }),
  }),
  route({
    ...COMMON,
    path: '/platformservice/v6/users/:user/features/APP/:application/permission',
    summary: "A user's permissions on an application, for the gateway",
    params: { ...USER, application: textOf('The number of the application.') },
    answers: { 200: json('All permissions.', z.object({ permissions: z.array(z.string()) })) },
    answer: () => jsonAnswer({ permissions: ['view', 'edit'] }),
  }),
  route({
    ...COMMON,
    path: '/platformservice/v6/users/:user/feature',
    summary: 'Whether a user may trigger an approval, for the gateway',
    params: USER,
    answers: ENABLED,
    answer: () => jsonAnswer({ isEnabled: 'true' }),
  }),
]

export const applicationFormRoutes = [...numberRoutes, ...permissionRoutes]

function noApplication(id: number): AppError {
  return new AppError('not_found', `no application has the number ${id}; look it up by name first`)
}
