// Names of public types of frameworks that a file of an app may import beside Tideline. A test that imports this module uses
// each public name of Tideline without its module, which fails to compile if the name is here too.
#ifndef FRAMEWORK_NAMES_H
#define FRAMEWORK_NAMES_H

// SwiftUI
typedef int AccessibilityFocusState, Alert, Alignment, AlignmentKey, Anchor, Angle, Animatable, AnimatablePair, Animation,
    AnyGesture, AnyLayout, AnyShape, AnyShapeStyle, AnyTransition, AnyView, App, AppStorage, AsyncImage, Axis, BackgroundTask,
    Bindable, Binding, BlendMode, Button, ButtonRole, ButtonStyle, Canvas, Capsule, Circle, Color, ColorPicker, ColorScheme,
    Commands, CommandGroup, CommandMenu, ContainerRelativeShape, ContentUnavailableView, ContentTransition, ControlGroup,
    ControlSize, CoordinateSpace, DatePicker, DisclosureGroup, Divider, DocumentGroup, DragGesture, DropInfo, DynamicProperty,
    DynamicTypeSize, Edge, EdgeInsets, EditButton, EditMode, Ellipse, EllipticalGradient, EmptyView, Entry, Environment,
    EnvironmentKey, EnvironmentObject, EnvironmentValues, EquatableView, FetchRequest, FetchedResults, FileDocument, FocusState,
    FocusedBinding, FocusedValue, Font, ForEach, Form, Gauge, GeometryProxy, GeometryReader, Gesture, GestureState, Gradient,
    GraphicsContext, Grid, GridItem, GridRow, Group, GroupBox, HStack, HorizontalAlignment, HorizontalEdge, Image, ImageRenderer,
    InsettableShape, ItemProvider, KeyEquivalent, KeyPress, KeyboardShortcut, Label, LabeledContent, LabelStyle, Layout,
    LayoutSubview, LazyHGrid, LazyHStack, LazyVGrid, LazyVStack, LinearGradient, Link, List, LocalizedStringKey, LongPressGesture,
    MagnifyGesture, MatchedGeometryProperties, Material, Menu, MenuBarExtra, MeshGradient, MoveCommandDirection, Namespace,
    NavigationLink, NavigationPath, NavigationSplitView, NavigationStack, ObservedObject, OpenURLAction, OutlineGroup, Path,
    PhaseAnimator, Picker, PinnedScrollableViews, PlainButtonStyle, PreferenceKey, PresentationDetent, PreviewProvider,
    PrimitiveButtonStyle, Prominence, ProgressView, RadialGradient, Rectangle, RedactionReasons, RefreshAction, RenameButton,
    RotateGesture, RotatedShape, RoundedRectangle, SafeAreaRegions, Scene, ScenePhase, SceneStorage, ScrollPosition, ScrollView,
    ScrollViewProxy, ScrollViewReader, SearchScopes, Section, SectionedFetchRequest, SecureField, Settings, Shape, ShapeStyle,
    ShareLink, Slider, Spacer, SpatialTapGesture, Spring, State, StateObject, Stepper, StrokeStyle, SubmitLabel, SubmitTriggers,
    Subview, SwipeActionsContent, Tab, TabView, Table, TableColumn, TableColumnBuilder, TableRow, TableRowBuilder, TapGesture,
    Text, TextAlignment, TextEditor, TextField, TextSelection, TimelineSchedule, TimelineView, TitleAndIconLabelStyle, Toggle,
    ToggleStyle, ToolbarContent, ToolbarItem, ToolbarItemGroup, Transaction, Transition, UnitPoint, VStack, VerticalAlignment,
    View, ViewBuilder, ViewModifier, ViewThatFits, Visibility, Window, WindowGroup, ZStack;

// Combine, with the names that SwiftUI does not have
typedef int AnyCancellable, AnyPublisher, AnySubscriber, Cancellable, CombineIdentifier, ConnectablePublisher,
    CurrentValueSubject, CustomCombineIdentifierConvertible, Deferred, Empty, Fail, Future, ImmediateScheduler, Just,
    ObservableObject, ObservableObjectPublisher, PassthroughSubject, Published, Publisher, Publishers, Record,
    Scheduler, Subject, Subscriber, Subscribers, Subscription, Subscriptions, TopLevelDecoder, TopLevelEncoder;

// SwiftData and Observation
typedef int Attribute, BackingData, DataStore, DataStoreBatching, DataStoreConfiguration, DataStoreError,
    DataStoreFetchRequest, DataStoreSnapshot, DefaultHistoryInsert, DefaultSerialModelExecutor, DefaultStore, EditingState,
    FetchDescriptor, FetchResultsCollection, HistoryChange, HistoryDelete, HistoryDescriptor, HistoryInsert, HistoryProviding,
    HistoryToken, HistoryTransaction, HistoryUpdate, Index, MigrationStage, Model, ModelActor, ModelConfiguration,
    ModelContainer, ModelContext, ModelExecutor, Observable, ObservationIgnored, ObservationRegistrar, Observations,
    PersistentIdentifier, PersistentModel, Query, Relationship, RelationshipCollection, Schema, SchemaMigrationPlan,
    SchemaProperty, SerialModelExecutor, Unique, VersionedSchema;

// SQLiteData and what it exports, without the names that GRDB has
typedef int Draft, Fetch, FetchAll, FetchKey, FetchKeyRequest, FetchOne, FetchSubscription, PrimaryKeyedTable, QueryBindable,
    QueryBinding, QueryExpression, QueryFragment, QueryRepresentable, Select, Selection, Statement, SyncEngine, SyncMetadata,
    TableAlias, TableDefinition, TableExpression, TableDraft, Updates, Where, With;

#endif
