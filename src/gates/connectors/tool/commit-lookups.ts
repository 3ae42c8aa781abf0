import type { ParameterReader } from './parameter-reader.js'
import type { Lookup, ReadJson, Tool } from './tool.js'

/** The identifier of a commit. */
const COMMIT_ID = {
  pattern: /^[0-9a-fA-F]{7,64}$/,
  words: 'a commit of 7 to 64 hex digits, or several',
}
/** The number of a pull or merge request. */
const MERGE_NUMBER = { pattern: /^\d{1,10}$/, words: 'a number such as 17, or several' }
/** A repository with its owner, as a path or a clone URL. */
const REPOSITORY = {
  pattern:
    /^(?:[a-z+]{2,10}:\/\/[^/\s]+\/|[^@/\s]+@[^:/\s]+:)?(?:~?[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)+[A-Za-z0-9_-][A-Za-z0-9_.-]*$/,
  words: 'a repository with its owner, such as tide/shop',
}

/**
 * Returns `tide/shop` for `https://git.example.org/tide/shop.git`, `git@git.example.org:tide/shop`
 * and `tide/shop`.
 */
function repositoryPath(text: string): string {
  const path = text.replace(/^(?:[a-z+]+:\/\/[^/]+\/|[^@/]+@[^:/]+:)/, '')
  return path.replace(/\.git$/, '')
}

/** Reads commits and pull requests from a repository host. */
export interface RepositoryHost {
  readonly repositoryParameter: string
  readonly mergeParameter: string
  readonly fetchCommit: (read: ReadJson, repository: string, commitId: string) => Promise<object>
  readonly fetchMerge: (read: ReadJson, repository: string, number: string) => Promise<object>
}

/** Returns the lookups of a trigger: commits and pull requests of one repository. */
export function commitLookups(parameters: ParameterReader, host: RepositoryHost): readonly Lookup[] {
  const { repositoryParameter, mergeParameter, fetchCommit, fetchMerge } = host
  const repository = repositoryPath(parameters.one(repositoryParameter, REPOSITORY))
  const commitIds = parameters.optionalList('commitId', COMMIT_ID)
  const numbers = parameters.optionalList(mergeParameter, MERGE_NUMBER)
  if (commitIds.length + numbers.length === 0) parameters.missingAll('commitId', mergeParameter)
  return [
    ...commitIds.map((commitId) => ({
      subject: `${repository} ${commitId}`,
      fetch: async (read: ReadJson) => [await fetchCommit(read, repository, commitId)],
    })),
    ...numbers.map((number) => ({
      subject: `${repository} ${mergeParameter} ${number}`,
      fetch: async (read: ReadJson) => [await fetchMerge(read, repository, number)],
    })),
  ]
}

/** Fetches a commit by id or a pull request by number from the API at `baseUrl`. */
export type FetchFromRepository = (
  read: ReadJson,
  baseUrl: string,
  repository: string,
  id: string,
) => Promise<object>

/**
 * Makes the tool of a repository host whose triggers name the repository in the parameter `repo`.
 */
export function repositoryTool(
  connectorTypes: readonly string[],
  mergeParameter: string,
  fetchCommit: FetchFromRepository,
  fetchMerge: FetchFromRepository,
): Tool {
  return {
    connectorTypes,
    lookups: (parameters, baseUrl) =>
      commitLookups(parameters, {
        repositoryParameter: 'repo',
        mergeParameter,
        fetchCommit: (read, repository, commitId) => fetchCommit(read, baseUrl, repository, commitId),
        fetchMerge: (read, repository, number) => fetchMerge(read, baseUrl, repository, number),
      }),
  }
}

/** Result of a check, build or pipeline of a commit. */
export type CheckState = 'success' | 'failure' | 'pending'

/**
 * Combines states: any failure is a failure, else any pending one is pending. `none` means that
 * there are no checks.
 */
export function overallState(states: readonly CheckState[]): CheckState | 'none' {
  if (states.includes('failure')) return 'failure'
  if (states.includes('pending')) return 'pending'
  return states.length === 0 ? 'none' : 'success'
}
