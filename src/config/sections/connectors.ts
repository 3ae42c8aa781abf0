import { z } from 'zod'

import { byteSizeKey } from '../values/byte-size.js'
import { CredentialsSchema } from '../values/credentials.js'
import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { isServerUrl } from '../values/server-url.js'

const MIB = 1024 * 1024
const MAX_RESPONSE_BYTES = 64 * MIB
const MAX_SECONDS = 300
const MAX_ATTEMPTS = 10

/** Tools with a connector. `http` is any service that answers with JSON. */
const CONNECTOR_TYPES = [
  'jira',
  'servicenow',
  'jenkins',
  'sonarqube',
  'github',
  'gitlab',
  'bitbucket',
  'http',
] as const

const TYPES = `one of ${CONNECTOR_TYPES.join(', ')}`

function isToolUrl(text: string): boolean {
  // Placeholders are replaced by encoded values of a trigger, which must not change the host.
  const urls = ['x', 'y'].map((value) => text.replace(/\{[A-Za-z0-9_.-]+\}/g, value))
  if (!urls.every((url) => URL.canParse(url) && !/[{}]/.test(url))) return false
  const [first, second] = urls.map((url) => new URL(url))
  const isHostFixed = first?.origin === second?.origin
  return isHostFixed && isServerUrl((urls[0] ?? '').replace(/[?#].*$/, ''))
}

const Account = z.strictObject({
  name: key(
    z.string().regex(/^\S(?:.{0,98}\S)?$/),
    'Name of the account in gates and evidence.',
    'a name of 1 to 100 characters that neither starts nor ends with a space',
  ),
  type: key(z.enum(CONNECTOR_TYPES), 'The tool.', TYPES),
  connectorType: key(
    z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
      .optional(),
    'Its type in triggers, if that is not the name of the tool in capitals (GIT for GitHub and GitLab).',
    'a word such as JFROG',
  ),
  url: key(
    z.string().refine(isToolUrl),
    'URL of the tool.',
    'an http or https URL without user name and password; for type http it may hold placeholders after the host: https://scan.example.org/images/{imageId}',
    { isHidden: true },
  ),
  credentials: CredentialsSchema.optional(),
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 10 },
    'How long one request may take, in seconds.',
  ),
  attempts: wholeNumberKey(
    { min: 1, max: MAX_ATTEMPTS, default: 3 },
    'Number of attempts if the tool is busy or unreachable.',
  ),
  maxResponseBytes: byteSizeKey(
    { min: 1024, max: MAX_RESPONSE_BYTES, default: 2 * MIB },
    'Maximum size of a response.',
  ),
})

export const ConnectorsSection = z.strictObject({
  accounts: key(
    z.array(Account).default([]),
    `Accounts at tools, each \`{name, type, url}\` with, where needed, \`connectorType\`, \`credentials\`, \`timeoutSeconds\` (10), \`attempts\` (3) and \`maxResponseBytes\` (2 MiB); the type is ${TYPES}. Credentials are \`{type: bearer, token}\`, \`{type: basic, username, password}\` or \`{type: header, name, value}\`, in which each secret is \`{env: NAME}\` or \`{file: PATH}\`.`,
    'a list of {name, type, url, credentials}',
  ),
  budgetSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 30 },
    'Time limit for all evidence of one gate, in seconds, including retries.',
  ),
  allowLoopback: booleanKey(true, 'Whether accounts may be on this machine (127.0.0.0/8, ::1).'),
  allowPrivate: booleanKey(
    true,
    'Whether accounts may be in private networks. Link-local and metadata addresses are always refused.',
  ),
})
