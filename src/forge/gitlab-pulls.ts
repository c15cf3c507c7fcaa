import { MergeRequestNotes, MergeRequests } from '@gitbeaker/rest';
import { link } from './ci-variables.ts';
import { askGitLab, GITLAB, gitlabOptions, readGitLabPages } from './clients/gitlab-client.ts';
import { GITLAB_MAX_LENGTH } from './gitlab.ts';
import type { Pulls } from './pulls.ts';
import type { ForgeRepository } from './repository.ts';

/** Opens the merge requests of a project at GitLab. */
export function openGitLabPulls(at: ForgeRepository, token: string, signal: AbortSignal): Pulls {
  const options = gitlabOptions(at.apiUrl, token, signal);
  const requests = new MergeRequests(options);
  const notes = new MergeRequestNotes(options);
  const project = at.repository;
  const list = async (from: string, into: string, state: 'opened' | 'closed' | 'merged') => {
    const wanted = {
      projectId: project,
      state,
      sourceBranch: from,
      targetBranch: into,
    };
    const all = await readGitLabPages((page) => requests.all({ ...wanted, ...page }));
    return all.filter(
      (each) =>
        each.source_branch === from &&
        each.target_branch === into &&
        Number(each.source_project_id) === Number(each.target_project_id),
    );
  };
  return {
    label: GITLAB,
    maxLength: GITLAB_MAX_LENGTH,
    findOpen: ({ from, into }) =>
      askGitLab('find the merge request', async () => {
        const [found] = await list(from, into, 'opened');
        return found === undefined ? null : shown(found);
      }),
    findDeclined: ({ from, into }, commit) =>
      askGitLab('find closed merge requests', async () => {
        const closed = await list(from, into, 'closed');
        return closed.find(({ sha }) => sha === commit)?.iid ?? null;
      }),
    findMerged: ({ from, into }, commit) =>
      askGitLab('find merged merge requests', async () => {
        const merged = await list(from, into, 'merged');
        return merged.find(({ sha }) => sha === commit)?.iid ?? null;
      }),
    open: ({ from, into }, { title, body }) =>
      askGitLab('open a merge request', async () =>
        shown(await requests.create(project, from, into, title, { description: body, removeSourceBranch: true })),
      ),
    update: (number, { title, body }) =>
      askGitLab('update the merge request', async () => {
        await requests.edit(project, number, { title, description: body });
      }),
    comment: (number, body) =>
      askGitLab('write a comment', async () => {
        await notes.create(project, number, body);
      }),
    close: (number) =>
      askGitLab('close the merge request', async () => {
        await requests.edit(project, number, { stateEvent: 'close' });
      }),
  };
}

function shown(request: { iid: number; web_url: unknown; title: string; description?: string | null }) {
  const url = link(String(request.web_url));
  return { number: request.iid, url, title: request.title, body: request.description ?? '' };
}
