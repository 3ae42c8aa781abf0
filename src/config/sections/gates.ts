import { z } from 'zod'

import { key, wholeNumber, wholeNumberText } from '../values/key.js'

const MAX_CONFIGURED_ID = 999_999_999
const MAX_APPROVALS = 50
/** Of approvers and of connectors. */
const MAX_LISTED = 1000
const MAX_MINUTES = 60 * 24 * 365
const MAX_DAYS = 36_500
/** An audit of a year, held in the year after it. */
const DEFAULT_DAYS = 730
const DEFAULT_MINUTES = 60 * 24

const nameText = 'a name of 1 to 1000 characters that neither starts nor ends with a space'
const name = () => z.string().regex(/^\S(?:.{0,998}\S)?$/)
const policyText = 'a path below data such as release/approval'
const policyPath = () =>
  z
    .string()
    .max(1000)
    .regex(/^[\w-]+(?:\/[\w-]+)*$/)

const Approvers = z.strictObject({
  users: key(z.array(name()).max(MAX_LISTED).default([]), 'Names of tokens.', 'a list of names'),
  groups: key(z.array(name()).max(MAX_LISTED).default([]), 'Groups of tokens.', 'a list of names'),
})

const GateMembers = z.strictObject({
  name: key(name(), 'What people call the gate.', nameText),
  application: key(name().optional(), 'The application that it is for.', nameText),
  pipeline: key(
    name().optional(),
    'The pipeline that it is for; all of the application without it.',
    nameText,
  ),
  stage: key(name().optional(), 'The stage that triggers it; the name of the gate without it.', nameText),
  connectors: key(
    z
      .array(z.string().regex(/^[A-Z][A-Z0-9_-]{0,63}$/))
      .max(MAX_LISTED)
      .default([]),
    'The types of connector whose evidence a policy needs before it decides.',
    'a list of types in capitals such as JIRA',
  ),
  approvers: Approvers.prefault({}),
  approvals: key(
    wholeNumber(1, MAX_APPROVALS).default(1),
    'How many different people must approve.',
    wholeNumberText(1, MAX_APPROVALS),
  ),
  triggererMayApprove: key(
    z.boolean().default(false),
    'Whether the person who triggered it may approve it too.',
    'true or false',
  ),
  timeToLiveMinutes: key(
    wholeNumber(1, MAX_MINUTES).default(DEFAULT_MINUTES),
    'How long an instance waits for a decision.',
    wholeNumberText(1, MAX_MINUTES),
  ),
  policy: key(policyPath().optional(), 'The policy that decides without a person where it can.', policyText),
})

/** Says why a gate could never be approved: where no group may decide, there must be as many users as approvals. */
export function missingApprovers({
  approvals,
  approvers: { users, groups },
}: {
  readonly approvals: number
  readonly approvers: { readonly users: readonly string[]; readonly groups: readonly string[] }
}): string | undefined {
  const people = new Set(users.map((user) => user.toLowerCase())).size
  if (groups.length > 0 || people === 0 || people >= approvals) return undefined
  return `it takes ${approvals} approvals, and approvers lists ${people === 1 ? 'one user' : `${people} users`} and no group: nobody could ever approve it`
}

/** What an approval gate says, but for its id. */
export const GateDefinitionSchema = GateMembers.superRefine((gate, context) => {
  const message = missingApprovers(gate)
  if (message !== undefined)
    context.addIssue({ code: 'custom', path: ['approvals'], message: `cannot be met: ${message}` })
})

const ConfiguredGate = z.strictObject({
  id: key(
    wholeNumber(1, MAX_CONFIGURED_ID),
    'The number in its URL, which must stay the same.',
    wholeNumberText(1, MAX_CONFIGURED_ID),
  ),
  ...GateMembers.shape,
})

const RuntimePolicy = z.strictObject({
  application: key(name().optional(), 'The application that it is for; any without it.', nameText),
  pipeline: key(name().optional(), 'The pipeline that it is for; any without it.', nameText),
  stage: key(name().optional(), 'The policy stage that asks it; any without it.', nameText),
  policy: key(policyPath(), 'The policy that is asked.', policyText),
})

/** The checkpoints of pipelines. */
export const GatesSection = z.strictObject({
  definitions: key(
    z.array(ConfiguredGate).default([]),
    'Approval gates, each `{id, name}` with, where needed, `application`, `pipeline`, `stage`, `connectors`, `approvers: {users, groups}` (everyone with the role approver), `approvals` (1), `triggererMayApprove` (false), `timeToLiveMinutes` (1440) and `policy`. See docs/reference/gates.md.',
    'a list of {id, name, …}',
  ),
  environments: key(
    z.array(name()).max(MAX_LISTED).default([]),
    "The environments that the forms of the orchestrator's stages offer.",
    'a list of names',
  ),
  fromStages: key(
    z.boolean().default(false),
    "Whether a stage of the orchestrator's for which no gate is declared makes one of what was chosen in its form: policy, templates, groups and connectors. Whoever may save pipelines, and with `auth.openToOrchestrator` whoever reaches the port, says then what such a stage asks; what is declared here goes before it.",
    'true or false',
  ),
  maxAgeDays: key(
    wholeNumber(1, MAX_DAYS).default(DEFAULT_DAYS),
    'How long instances are kept after they ended, with their evidence and reviews, in days. Open ones and ones whose callback was not delivered stay; the audit trail keeps its records of all.',
    wholeNumberText(1, MAX_DAYS),
  ),
  runtimePolicies: key(
    z.array(RuntimePolicy).default([]),
    "Which policy the orchestrator's policy stages are sent to, each `{policy}` with, where needed, `application`, `pipeline` and `stage`; the entry that names the most of a stage is taken.",
    'a list of {application, pipeline, stage, policy}',
  ),
})
