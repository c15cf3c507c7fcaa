/** Page of one question that readers ask: its numbers by week, its examples, and all change requests for it. */
import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import { bar, figure } from '../charts/figure.ts';
import { link, shown } from '../html/elements.ts';
import { answerText, numbersText, questionActions, requestList, spaceSuggestions } from '../html/question.ts';
import { isOperator } from '../html/visibility.ts';
import type { OrganizationState } from '../model/backend.ts';
import { organizationPath, questionPath } from '../model/paths.ts';
import { questionViews } from '../model/questions.ts';
import { defineOrganizationPage, type Html, type PageRequest } from '../page.ts';

type QuestionPageView = NonNullable<Awaited<ReturnType<typeof load>>>;

/** Describes a question; null if it is not known any more. Throws StoreError. */
async function load(state: OrganizationState, { params, now }: PageRequest) {
  const { questions, requests, spaces } = await questionViews(state, now);
  const question = questions.find(({ id }) => id === params.cluster);
  return question === undefined
    ? null
    : {
        organization: state.id,
        cluster: question,
        /** All change requests of Octavo for it, newest first. */
        requests: requests.filter(({ cluster }) => cluster === question.id),
        spaces,
      };
}

export const questionPage = defineOrganizationPage<QuestionPageView>({
  path: '/questions/:cluster',
  load,
  title: ({ cluster }) => shown(cluster.label, 80),
  render,
  topic: ({ organization }) => organization,
});

function render({ organization, cluster, requests, spaces }: QuestionPageView, request: PageRequest): Html {
  const { now } = request;
  const { id, label, url, trend, examples, weeklyPulse } = cluster;
  const back = questionPath(organization, id);
  const frame = { organization, spaces, back, isOperator: isOperator(request, organization), now };
  return html`<div class="head"><h1>${shown(label)}</h1>${frame.isOperator ? questionActions(frame, cluster) : ''}</div>
<p class="lead">${trend.words.charAt(0).toUpperCase()}${trend.words.slice(1)}.</p>
<p class="faint">${numbersText(cluster, now)}${url === null ? '' : html` · ${link(url, 'At the platform')}`}</p>
${answerText(cluster, now)}
${weeklyPulse.length === 0 ? '' : weekChart(weeklyPulse)}
${examples.length === 0 ? '' : html`<h2>Examples</h2><ul>${examples.map((text) => html`<li><q>${shown(text, 500)}</q></li>`)}</ul>`}
${requests.length === 0 ? '' : html`<h2>Change requests</h2>${requestList(requests, now)}`}
${frame.isOperator ? spaceSuggestions(spaces) : ''}
<p>${link(organizationPath(organization, '/questions'), 'All questions')}</p>`;
}

const BAR = 40;
const HEIGHT = 100;

/** Chart of the number of times it was asked by week, the newest week at the right. */
function weekChart(pulse: readonly number[]): Html {
  const most = largest(pulse, 1);
  const shapes = pulse.map((count, index) => {
    const height = (Math.max(0, count) / most) * (HEIGHT - 4);
    return bar(index * BAR + 3, HEIGHT - height, BAR - 6, height, 'busy');
  });
  const weekOf = (index: number) => {
    const ago = pulse.length - 1 - index;
    return ago === 0 ? 'this week' : ago === 1 ? 'last week' : `${ago} weeks ago`;
  };
  return figure({
    id: 'weeks',
    sentence: `Asked by week, at most ${most.toLocaleString('en')} times in one. This week may only have begun.`,
    shapes: html`${shapes}`,
    size: [pulse.length * BAR, HEIGHT],
    ends: [weekOf(0), pulse.length > 1 ? weekOf(pulse.length - 1) : ''],
    table: { columns: ['Week', 'Times'], rows: pulse.map((count, index) => [weekOf(index), count]).toReversed() },
  });
}
