// Keeps a page current: loads its content again when something changed, without losing what a person has typed.

/* global Idiomorph */

/** Milliseconds between reloads without an event: ages change, and events may be lost. Longer if the daemon is busy. */
const USUAL = 60_000;
let usual = USUAL;
/** Milliseconds without a connection before the page says so. */
const PATIENCE = 10_000;
/** Milliseconds after the last key before a search is shown. */
const PAUSE = 250;

const notice = document.getElementById('connection');
let lastLoad = Date.now();
let timer;
let isLoading = false;
let lostSince = null;

/** Returns the content of the page, which each reload replaces or changes. */
function content() {
  return document.getElementById('main');
}

function say(text) {
  if (notice.textContent !== text) {
    notice.textContent = text;
  }
}

function hasConnection(isConnected) {
  if (isConnected) {
    lostSince = null;
    say('');
    return;
  }
  lostSince ??= Date.now();
  if (Date.now() - lostSince >= PATIENCE) {
    say('No connection to the daemon. This page may be out of date.');
  }
}

/** Returns true for a form that a person uses: it has the focus, or a field that was changed. */
function isInUse(form) {
  const isChanged = (field) =>
    field.type !== 'hidden' &&
    ((typeof field.defaultValue === 'string' && field.value !== field.defaultValue) ||
      (field.options !== undefined && [...field.options].some((each) => each.selected && !each.defaultSelected)));
  return form.contains(document.activeElement) || [...form.elements].some(isChanged);
}

/** Returns true if a node is a form in use, or has one in it. Its fields, also the hidden ones, stay as they were shown. */
function mustStay(node) {
  if (!(node instanceof Element)) {
    return false;
  }
  const forms = node.matches('form') ? [node] : [...node.querySelectorAll('form')];
  return forms.some(isInUse);
}

function replaceContent(next) {
  Idiomorph.morph(content(), next, {
    morphStyle: 'outerHTML',
    callbacks: {
      beforeNodeMorphed: (node) => !(node instanceof HTMLFormElement && isInUse(node)),
      beforeNodeRemoved: (node) => !mustStay(node),
      // A person opens and closes details; the server does not know which are open.
      beforeAttributeUpdated: (name, node) => !(name === 'open' && node instanceof HTMLDetailsElement),
    },
  });
}

async function load() {
  if (isLoading || document.hidden) {
    return;
  }
  isLoading = true;
  clearTimeout(timer);
  timer = undefined;
  const { href } = location;
  try {
    const headers = { accept: 'text/html', 'if-none-match': content().dataset.etag };
    const response = await fetch(href, { headers, cache: 'no-store' });
    lastLoad = Date.now();
    hasConnection(true);
    if (response.redirected || response.status === 401) {
      say('You are signed out. Load this page again to sign in.');
    } else if (response.ok) {
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      if (href !== location.href) {
        return;
      }
      replaceContent(page.getElementById('main'));
      document.title = page.title;
    } else if (response.status === 404) {
      say('What this page shows does not exist any more.');
    }
  } catch {
    hasConnection(false);
  } finally {
    isLoading = false;
    // A search went on while the answer came.
    if (href !== location.href) {
      void load();
    }
  }
}

/** Loads the page within this time. Browsers choose different times, so that they do not all ask at once. */
function loadWithin(milliseconds) {
  timer ??= setTimeout(load, Math.random() * milliseconds);
}

function receive({ topics, wait }) {
  usual = Math.max(USUAL, 2 * wait);
  const wanted = JSON.parse(content().dataset.topics);
  // "*" is any organization, in both lists.
  const hasOrganization = (list) => list.some((topic) => topic === '*' || topic.startsWith('organization/'));
  const isAny = wanted.includes('*') || topics.includes('*');
  if (topics.some((topic) => wanted.includes(topic)) || (isAny && hasOrganization(wanted) && hasOrganization(topics))) {
    loadWithin(wait);
  }
}

const channel = new BroadcastChannel('octavo');
channel.addEventListener('message', ({ data }) => receive(data));

/** Opens the event stream. Returns a function that closes it. */
function listen() {
  let source;
  let again;
  let wasOpen = false;
  const open = () => {
    source = new EventSource('/events');
    source.addEventListener('open', () => {
      hasConnection(true);
      if (wasOpen) {
        // Events may have been missed.
        const missed = { topics: JSON.parse(content().dataset.topics), wait: 2000 };
        channel.postMessage(missed);
        loadWithin(missed.wait);
      }
      wasOpen = true;
    });
    source.addEventListener('message', ({ data }) => {
      const change = JSON.parse(data);
      channel.postMessage(change);
      receive(change);
    });
    source.addEventListener('error', () => {
      // A browser does not open a stream again that was refused.
      if (source.readyState === EventSource.CLOSED) {
        again = setTimeout(open, USUAL);
      }
    });
  };
  open();
  return () => {
    clearTimeout(again);
    source.close();
  };
}

// One stream for all tabs: a browser opens few connections to a host, and each stream takes one.
if (navigator.locks === undefined) {
  let close = document.hidden ? null : listen();
  document.addEventListener('visibilitychange', () => {
    close?.();
    close = document.hidden ? null : listen();
  });
} else {
  void navigator.locks.request('octavo-events', () => {
    listen();
    return new Promise(() => {});
  });
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) {
    loadWithin(500);
  }
});
setInterval(() => {
  if (Date.now() - lastLoad >= usual || lostSince !== null) {
    void load();
  }
}, PATIENCE / 2);

/** Shows what a form selects, at the address that it would be sent to. The form stays as it is, with its focus. */
function search(form) {
  const fields = [...new FormData(form)].filter(([, value]) => value !== '');
  const found = new URL(form.action);
  found.search = String(new URLSearchParams(fields));
  history.replaceState(null, '', found);
  void load();
}

let typing;
document.addEventListener('input', ({ target: { form } }) => {
  if (form?.matches('.live')) {
    clearTimeout(typing);
    typing = setTimeout(search, PAUSE, form);
  }
});

// Of tabs that are scrolled, the current one is in view.
document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

// The notice about an action is shown once.
const address = new URL(location.href);
if (address.searchParams.has('done')) {
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
}
