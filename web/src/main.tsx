import { render } from 'preact';
import { App } from './app';
import { startOffline } from './offline/offline';
import { restore } from './state/runs';
import './style.css';

render(<App />, document.getElementById('page')!);
void restore();
void startOffline();
