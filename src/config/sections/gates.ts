import { z } from 'zod'

import { booleanKey, key, wholeNumber, wholeNumberKey, wholeNumberText } from '../values/key.js'

const MAX_CONFIGURED_ID = 999_999_999
const MAX_APPROVALS = 50
/** Limit for approvers and for connectors. */
const MAX_LISTED = 1000
const MAX_MINUTES = 60 * 24 * 365
const MAX_DAYS = 36_500
/** Two years, so that an audit in the following year covers a whole year. */
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

const minutes = (description: string) =>
  key(wholeNumber(1, MAX_MINUTES).optional(), description, wholeNumberText(1, MAX_MINUTES))

const Reminders = z.strictObject({
  afterMinutes: minutes('Time from the trigger to the first reminder.'),
  everyMinutes: minutes('Time between two reminders.'),
  beforeExpiryMinutes: minutes('Time from the notice of the approaching end to the end.'),
})

const GateMembers = z.strictObject({
  name: key(name(), 'Display name of the gate.', nameText),
  application: key(name().optional(), 'The application of the gate.', nameText),
  pipeline: key(name().optional(), 'The pipeline of the gate. By default all of the application.', nameText),
  stage: key(name().optional(), 'The stage that triggers it. Defaults to the name of the gate.', nameText),
  connectors: key(
    z
      .array(z.string().regex(/^[A-Z][A-Z0-9_-]{0,63}$/))
      .max(MAX_LISTED)
      .default([]),
    'Connector types whose evidence the policy needs.',
    'a list of types in capitals such as JIRA',
  ),
  approvers: Approvers.prefault({}),
  approvals: wholeNumberKey(
    { min: 1, max: MAX_APPROVALS, default: 1 },
    'Number of different people who must approve.',
  ),
  triggererMayApprove: booleanKey(false, 'Whether the person who triggered it may also approve it.'),
  commentRequired: booleanKey(false, 'Whether approving and rejecting need a comment.'),
  eachGroup: key(
    z.boolean().optional(),
    'Whether one approver of each listed group must approve. A person counts for one group.',
    'true or false',
  ),
  committersMayApprove: key(
    z.boolean().optional(),
    'False if committers of the deployed change may not approve. Unknown committers then refuse every approval.',
    'true or false',
  ),
  reminders: Reminders.optional(),
  timeToLiveMinutes: wholeNumberKey(
    { min: 1, max: MAX_MINUTES, default: DEFAULT_MINUTES },
    'How long an instance waits for a decision, in minutes.',
  ),
  policy: key(policyPath().optional(), 'A policy that may decide automatically.', policyText),
})

/**
 * Returns why a gate can never be approved: without groups, there must be at least as many users as
 * required approvals.
 */
export function missingApprovers({
  approvals,
  eachGroup,
  approvers: { users, groups },
}: {
  readonly approvals: number
  readonly eachGroup?: boolean | undefined
  readonly approvers: { readonly users: readonly string[]; readonly groups: readonly string[] }
}): string | undefined {
  if (eachGroup === true && groups.length === 0)
    return 'eachGroup needs at least one group in approvers.groups'
  const people = new Set(users.map((user) => user.toLowerCase())).size
  if (groups.length > 0 || people === 0 || people >= approvals) return undefined
  return `it needs ${approvals} approvals, but approvers lists only ${people === 1 ? 'one user' : `${people} users`} and no group`
}

/** An approval gate without its id. */
export const GateDefinitionSchema = GateMembers.superRefine((gate, context) => {
  const message = missingApprovers(gate)
  if (message !== undefined)
    context.addIssue({ code: 'custom', path: ['approvals'], message: `cannot be met: ${message}` })
})

const ConfiguredGate = z.strictObject({
  id: key(
    wholeNumber(1, MAX_CONFIGURED_ID),
    'The number in its URL. It must not change.',
    wholeNumberText(1, MAX_CONFIGURED_ID),
  ),
  ...GateMembers.shape,
})

const RuntimePolicy = z.strictObject({
  application: key(name().optional(), 'The application of the stage. Any by default.', nameText),
  pipeline: key(name().optional(), 'The pipeline of the stage. Any by default.', nameText),
  stage: key(name().optional(), 'The name of the policy stage. Any by default.', nameText),
  policy: key(policyPath(), 'The policy to evaluate.', policyText),
})

export const GatesSection = z.strictObject({
  definitions: key(
    z.array(ConfiguredGate).default([]),
    'Approval gates, each `{id, name}` with, where needed, `application`, `pipeline`, `stage`, `connectors`, `approvers: {users, groups}` (everyone with the role approver), `approvals` (1), `triggererMayApprove` (false), `commentRequired` (false), `eachGroup` (false), `committersMayApprove` (true), `reminders: {afterMinutes, everyMinutes, beforeExpiryMinutes}` (none), `timeToLiveMinutes` (1440) and `policy`. See docs/reference/gates.md.',
    'a list of {id, name, …}',
  ),
  environments: key(
    z.array(name()).max(MAX_LISTED).default([]),
    "Environments offered in the forms of the orchestrator's stages.",
    'a list of names',
  ),
  fromStages: booleanKey(
    false,
    'Whether an orchestrator stage without a declared gate creates one from the choices in its form: policy, templates, groups and connectors. Anyone who may save pipelines then controls such stages, and with `auth.openToOrchestrator` anyone who reaches the port. Gates declared here take precedence.',
  ),
  maxAgeDays: wholeNumberKey(
    { min: 1, max: MAX_DAYS, default: DEFAULT_DAYS },
    'How long ended instances are kept with their evidence and reviews, in days. Open ones and ones with an undelivered callback are kept longer. The audit trail keeps its records.',
  ),
  runtimePolicies: key(
    z.array(RuntimePolicy).default([]),
    "The policies for the orchestrator's policy stages, each `{policy}` with, where needed, `application`, `pipeline` and `stage`. The most specific matching entry applies.",
    'a list of {application, pipeline, stage, policy}',
  ),
})
